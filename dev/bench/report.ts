/** A run as text, for terminals. */
import { describeAdapter, formatClock } from './format.js';
import { benchModes } from './modes/index.js';
import { rowsOf, type StampedRow } from './rows.js';

const place = (rows: readonly StampedRow[]): string[] =>
  rowsOf(rows, 'init').map(({ adapter, environment }) => {
    const kind = adapter.software ? 'software' : 'hardware';
    return `adapter: ${describeAdapter(adapter)}, ${kind}; ${environment.runtime}, ${environment.os}; ${formatClock(environment)}`;
  });

/** The same of rows from somewhere else: nothing of those that are not of a bench like this one. */
export const reportOfAny = (rows: readonly unknown[]): string[] => {
  const own = rows as readonly StampedRow[];
  const [init] = rowsOf(own, 'init');
  return init !== undefined && Object.hasOwn(benchModes, init.mode) ? reportLines(own) : [];
};

/** What a run came to, line by line. */
export function reportLines(rows: readonly StampedRow[]): string[] {
  const skipped = rowsOf(rows, 'skipped').map(({ variant, why }) => `left out: ${variant}: ${why}`);
  const body = rowsOf(rows, 'init').flatMap(({ mode }) => benchModes[mode].report(rows));
  return [...place(rows), '', ...body, ...(skipped.length === 0 ? [] : ['', ...skipped])];
}
