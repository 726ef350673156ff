/** `accum-ab`: two settings, or two builds, strictly in turns on the same inputs, and whether their difference is more than noise. */

import { median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { type CaseAddress, formatCaseAddress } from '../../cases/address.js';
import { shortSize } from '../format.js';
import { type ComparisonRow, rowsOf, type StampedRow } from '../rows.js';
import { runTimings, type Times } from '../timings.js';
import { comparisonWords, equivalentsWords } from '../words.js';
import type { BenchMode } from './mode.js';
import { remarks, timesTable } from './timings-report.js';

export const accumAb: BenchMode = {
  run: (run, host, knobs) =>
    runTimings(run, host, knobs, {
      labels: ['A', 'B'],
      conclude: (address, times) => compare(address, times as readonly [Times, Times], knobs.seed),
    }),
  report: (rows) => [...timesTable(rows), ...remarks(rows), ...verdicts(rows)],
};

/** What the pairs say. @throws Error where the clock is too coarse */
function compare(address: CaseAddress, [a, b]: readonly [Times, Times], seed: number): ComparisonRow {
  const { n } = address;
  if ([...a.wallsMs, ...b.wallsMs].some((ms) => ms <= 0)) {
    throw new Error(`n = ${n} takes less than a tick of this clock: there is nothing to compare; take more points`);
  }
  const walls = ratioOfMedians(a.wallsMs, b.wallsMs, { seed });
  return {
    event: 'comparison',
    case: formatCaseAddress(address),
    n,
    aMs: median(a.wallsMs) as number,
    bMs: median(b.wallsMs) as number,
    a: a.subject.setting.name,
    b: b.subject.setting.name,
    pairs: a.wallsMs.length,
    walls,
    equivalents: ratioOfMedians(a.productEquivalents, b.productEquivalents, { seed }),
    // as `inTurns` takes them
    first: a.wallsMs.map((_, i) => (i % 2 === 0 ? 'A' : 'B')),
  };
}

const verdicts = (rows: readonly StampedRow[]): string[] =>
  rowsOf(rows, 'comparison').flatMap((row) => {
    const { verdict, joint, detail } = comparisonWords(row);
    const title = `${shortSize(row.n)}, A: ${row.a}, B: ${row.b}`;
    return ['', title, `${verdict}${joint}${detail}`, equivalentsWords(row)];
  });
