/** A wrong answer takes the times of its case with its setting away: those of the repetitions before it were measured by the same program. */
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

/** The rows as they may be shown and kept. */
export function judged(rows: readonly StampedRow[]): StampedRow[] {
  const wrong = new Set(rows.filter((row) => 'agrees' in row && !row.agrees).map(keyOf));
  return rows.map((row) => {
    const key = keyOf(row);
    return key !== null && wrong.has(key) ? withoutTimes(row) : row;
  });
}
