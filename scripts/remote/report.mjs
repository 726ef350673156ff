/**
 * The report that a remote run prints at the end: the page's own report, the number of
 * rows of each kind, and how the run ended.
 */

/** @typedef {Readonly<Record<string, unknown>>} AnyRow */

/**
 * Returns whether a row reports a failed check.
 *
 * @param {AnyRow} row
 */
export const isWrong = (row) => row.agrees === false || (row.event === 'repetition' && row.wallMs === null);

/**
 * Formats the whole report.
 *
 * @param {readonly AnyRow[]} rows
 * @param {readonly string[]} report the page's own lines
 */
export const summary = (rows, report) => [...report, '', countLine(rows), endLine(rows)].join('\n').trimStart();

/** @param {readonly AnyRow[]} rows */
function countLine(rows) {
  /** @type {Map<unknown, number>} */
  const counts = new Map();
  for (const { event } of rows) counts.set(event, (counts.get(event) ?? 0) + 1);
  return `rows: ${[...counts].map(([event, count]) => `${count} ${event}`).join(', ') || 'none'}`;
}

/** @param {readonly AnyRow[]} rows */
function endLine(rows) {
  const end = rows.find(({ event }) => event === 'end');
  if (end === undefined) return 'end: not reached';
  const seconds = typeof end.seconds === 'number' ? ` after ${end.seconds.toFixed(1)} s` : '';
  return `end: ${end.status}${seconds}${typeof end.error === 'string' ? `, ${end.error}` : ''}`;
}
