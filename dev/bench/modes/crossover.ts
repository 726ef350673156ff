/**
 * `crossover`: finds the largest n at which the CPU is faster than the GPU on this device. The
 * result is the value for `tuning.cpuBelow`. Noble's MSM is timed as well, as a measure of the
 * library's CPU path.
 */

import { ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { shortSize } from '../format.js';
import { notes, type Parts, tableOf } from '../parts.js';
import { rowsOf, type StampedRow } from '../rows.js';
import { makeSetting } from '../settings.js';
import { summarise } from '../summary.js';
import { runTimings } from '../timings.js';
import { intervalText } from '../verdict-text.js';
import type { BenchMode } from './mode.js';
import { timingsResult } from './timings-result.js';

/** Largest number of scalars that the library computes on the CPU for `cpuBelow`. */
const MOST = 2 ** 16;

export const crossover: BenchMode = {
  run(run, host, knobs) {
    const { curve, group, encoding, seed, largest } = knobs;
    const sizes = Array.from({ length: Math.floor(Math.log2(largest)) + 1 }, (_, log) => 2 ** log);
    return runTimings(
      run,
      host,
      {
        ...knobs,
        cases: sizes.map((n) => ({
          address: { curve, group, encoding, points: 'distinct', scalars: 'random', n, seed },
          placement: undefined,
        })),
        settings: [0, MOST].map((cpuBelow) => makeSetting(new Map([['cpubelow', String(cpuBelow)]]))),
        peers: ['noble'],
      },
      { labels: ['GPU', 'CPU'] },
    );
  },
  show: (rows) => [...timingsResult(rows), ...ratios(rows)],
};

function ratios(rows: readonly StampedRow[]): Parts {
  // before the end, one of the two may have one time more
  if (rowsOf(rows, 'end')[0]?.status !== 'done') return [];
  const timed = summarise(rows);
  const on = (label: string) => timed.filter(({ setting, medianMs }) => setting === label && medianMs !== null);
  const cpu = on('CPU');
  const pairs = on('GPU').flatMap(({ n, wallTimesMs }) => {
    const other = cpu.find((each) => each.n === n);
    return other === undefined ? [] : [{ n, beside: ratioOfMedians(wallTimesMs, other.wallTimesMs) }];
  });
  const slower = pairs.findIndex(({ beside }) => beside.ratio >= 1);
  const bound = (slower === -1 ? pairs : pairs.slice(0, slower)).at(-1)?.n ?? 0;
  return [
    tableOf('CPU against GPU', pairs, [
      ['n', ({ n }) => shortSize(n)],
      ['CPU ÷ GPU', ({ beside }) => beside.ratio.toFixed(2)],
      ['95 % interval', ({ beside }) => intervalText(beside)],
    ]),
    notes(`The CPU is faster up to n = ${bound}: tuning: { cpuBelow: ${bound} }`),
  ];
}
