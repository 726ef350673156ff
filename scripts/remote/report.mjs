/** What `npm run bench:remote` prints at the end. Of a page from elsewhere it knows repetitions and the end; of other rows it tells how many there were. */

import { median } from '../start/measure.mjs';

/** @typedef {Readonly<Record<string, unknown>>} AnyRow */

/**
 * A check that failed, whatever the row is about.
 *
 * @param {AnyRow} row
 */
export const isWrong = (row) => row.agrees === false || (row.event === 'repetition' && row.wallMs === null);

/**
 * @param {readonly AnyRow[]} rows
 * @param {((rows: readonly any[]) => string[]) | null} [report] of our own page's rows, which says more
 */
export function summary(rows, report = null) {
  const lines = report === null ? repetitionTable(rows) : [...report(rows), ''];
  return [...lines, countLine(rows), endLine(rows)].join('\n');
}

/** @param {readonly AnyRow[]} rows */
function repetitionTable(rows) {
  /** @type {Map<string, AnyRow[]>} */
  const groups = new Map();
  for (const row of rows.filter(({ event }) => event === 'repetition')) {
    const name = [row.case, row.setting, row.placement].filter((part) => part !== undefined).join(', ');
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  if (groups.size === 0) return [];
  const lines = [...groups].map(([name, group]) => [name, String(group.length), wall(group), gpu(group)]);
  return [alignColumns([['case', 'runs', 'wall ms', 'GPU ms'], ...lines]), ''];
}

/** @param {readonly AnyRow[]} group */
function wall(group) {
  const wrong = group.filter(isWrong).length;
  return wrong > 0 ? `FAILED ${wrong} of ${group.length}` : milliseconds(group.map(({ wallMs }) => wallMs));
}

/** @param {readonly AnyRow[]} group */
const gpu = (group) => (group.some(isWrong) ? '–' : milliseconds(group.map(({ gpuMs }) => gpuMs)));

/**
 * @param {readonly unknown[]} times
 * @returns their median; a dash where one has none
 */
function milliseconds(times) {
  const known = times.filter((time) => typeof time === 'number');
  if (known.length === 0 || known.length < times.length) return '–';
  const middle = median(known);
  return middle.toFixed(middle < 10 ? 2 : 1);
}

/** @param {readonly (readonly string[])[]} lines */
function alignColumns(lines) {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line.map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0))),
    )
    .map((cells) => cells.join('  '))
    .join('\n');
}

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
