/**
 * Reports replays: each routing against the best choice for every call in hindsight, and simulated
 * machines.
 */
import { bn254 } from '../../../../src/curves/bn254.js';
import { curveContext } from '../../../../src/curves/curve.js';
import { machines, simulate } from '../../../routing/simulation.js';
import { makeTrace } from '../../../routing/trace.js';
import { formatMs } from '../../format.js';
import { notes, type Part, type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { type Routing, routings } from './routings.js';

type Replayed = RowOf<'replayed'>;

/** Totals of the routings, over the calls that all of them computed. */
export interface Score {
  readonly calls: number;
  readonly totalMs: Readonly<Record<Routing, number>>;
  /** Sum over calls of the fastest of GPU, CPU and both. */
  readonly bestMs: number;
  /**
   * Times of the fixed routing that `auto` chose for each call: its choices without the noise of
   * its own times.
   */
  readonly chosenMs: number;
  /** Calls of `auto` by backend. */
  readonly chosen: Readonly<Record<'gpu' | 'cpu' | 'both', number>>;
}

export function scoreOf(rows: readonly Replayed[]): Score {
  const totalMs = { gpu: 0, cpu: 0, both: 0, auto: 0 };
  const chosen = { gpu: 0, cpu: 0, both: 0 };
  const score = { calls: 0, bestMs: 0, chosenMs: 0 };
  const calls = new Map<number, Map<Routing, Replayed>>();
  for (const row of rows) calls.set(row.call, (calls.get(row.call) ?? new Map()).set(row.routing, row));
  for (const by of calls.values()) {
    const msOf = (routing: Routing): number => by.get(routing)?.medianMs ?? Number.NaN;
    const auto = by.get('auto');
    if (by.size < routings.length || auto === undefined) continue;
    score.calls++;
    for (const routing of routings) totalMs[routing] += msOf(routing);
    score.bestMs += Math.min(msOf('gpu'), msOf('cpu'), msOf('both'));
    score.chosenMs += msOf(auto.on);
    chosen[auto.on]++;
  }
  return { ...score, totalMs, chosen };
}

const names: Readonly<Record<Routing, string>> = {
  gpu: 'the GPU alone',
  cpu: 'the CPU alone',
  both: 'both, divided',
  auto: 'routed by the library',
};

const times = (ms: number, bestMs: number): string => (ms / bestMs).toFixed(3);

export const replayResult = (rows: readonly StampedRow[]): Parts => {
  const score = scoreOf(rowsOf(rows, 'replayed'));
  if (score.calls === 0) return [];
  const { calls, totalMs, bestMs, chosenMs, chosen } = score;
  const lines = [
    ...routings.map((routing) => ({ name: names[routing], ms: totalMs[routing] })),
    { name: 'its choices, timed by the fixed routings', ms: chosenMs },
    { name: 'the best of the three for each call, in hindsight', ms: bestMs },
  ];
  return [
    tableOf(`The trace, ${calls} calls`, lines, [
      ['Computed by', ({ name }) => name],
      ['ms', ({ ms }) => formatMs(ms)],
      ['÷ the best', ({ ms }) => times(ms, bestMs)],
    ]),
    notes(`The library chose the GPU ${chosen.gpu} times, the CPU ${chosen.cpu} times, and both ${chosen.both} times.`),
    rowsOf(rows, 'end')[0] === undefined ? null : simulated(),
  ];
};

/** Seeds of the synthetic traces. */
const SEEDS = [1, 2, 3] as const;

/** Reports the same routing on simulated machines whose times are known. */
export function simulated(): Part {
  const curve = curveContext(bn254);
  const results = Object.entries(machines).map(([name, machine]) => {
    const all = SEEDS.map((seed) => simulate(curve, machine, makeTrace(seed), seed));
    const sum = (of: (each: (typeof all)[number]) => number): number =>
      all.reduce((total, each) => total + of(each), 0);
    const worst = Math.max(...all.map(({ auto, best }) => auto / best));
    return { name, about: machine.about, all, worst, sum };
  });
  return tableOf('Simulated machines, synthetic traces of 491 calls, ÷ the best', results, [
    ['Machine', ({ name, about }) => ({ text: name, small: about })],
    [
      'GPU',
      ({ sum }) =>
        times(
          sum(({ gpu }) => gpu),
          sum(({ best }) => best),
        ),
    ],
    [
      'CPU',
      ({ sum }) =>
        times(
          sum(({ cpu }) => cpu),
          sum(({ best }) => best),
        ),
    ],
    [
      'Routed',
      ({ sum }) =>
        times(
          sum(({ auto }) => auto),
          sum(({ best }) => best),
        ),
    ],
    ['Routed, worst', ({ worst }) => worst.toFixed(3)],
    [
      'Calls to GPU, CPU, both',
      ({ sum }) =>
        (['gpu', 'cpu', 'both'] as const)
          .map((route) => Math.round(sum(({ routes }) => routes[route]) / SEEDS.length))
          .join(', '),
    ],
  ]);
}
