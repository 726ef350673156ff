/**
 * Removes the times of cases with a wrong answer, per setting. The repetitions before the wrong one
 * ran the same program, so their times are void as well.
 */
import type { StampedRow } from './rows.js';

const keyOf = (row: StampedRow): string | null => {
  if (row.event === 'repetition' || row.event === 'trace' || row.event === 'warm-up')
    return `${row.case} ${row.setting}`;
  return row.event === 'peer' ? `${row.case} peer ${row.peer}` : null;
};

function withoutTimes(row: StampedRow): StampedRow {
  switch (row.event) {
    case 'warm-up':
    case 'peer':
      return { ...row, wallMs: null };
    case 'repetition':
      return { ...row, wallMs: null, gpuMs: null, hostTimes: null, phases: null, productEquivalents: null };
    case 'trace':
      return { ...row, wallMs: null, gpuMs: null, hostTimes: null, phases: null, timeline: null };
    default:
      return row;
  }
}

/** Returns the rows as the page shows them and files keep them. */
export function voidWrongTimes(rows: readonly StampedRow[]): StampedRow[] {
  const wrong = new Set(rows.filter((row) => 'agrees' in row && !row.agrees).map(keyOf));
  return rows.map((row) => {
    const key = keyOf(row);
    return key !== null && wrong.has(key) ? withoutTimes(row) : row;
  });
}
