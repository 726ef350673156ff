/** What `npm run bench:remote` prints at the end: what our own page would, and of any page how many rows of each kind there were, and the end. */

/** @typedef {Readonly<Record<string, unknown>>} AnyRow */

/**
 * A check that failed, whatever the row is about.
 *
 * @param {AnyRow} row
 */
export const isWrong = (row) => row.agrees === false || (row.event === 'repetition' && row.wallMs === null);

/**
 * @param {readonly AnyRow[]} rows
 * @param {readonly string[]} report of them
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
  if (end === undefined) return 'end: the run did not get there';
  const seconds = typeof end.seconds === 'number' ? ` after ${end.seconds.toFixed(1)} s` : '';
  return `end: ${end.status}${seconds}${typeof end.error === 'string' ? `, ${end.error}` : ''}`;
}
