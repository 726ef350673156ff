/** What replays come to: each routing beside the best choice for every call, known afterwards; and the same on machines that are made up. */
import { bn254 } from '../../../../src/curves/bn254.js';
import { curveContext } from '../../../../src/curves/curve.js';
import { machines, simulate } from '../../../routing/simulation.js';
import { makeTrace } from '../../../routing/trace.js';
import { formatMs } from '../../format.js';
import { notes, type Part, type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { type Routing, routings } from './routings.js';

type Replayed = RowOf<'replayed'>;

/** What routings came to, over all calls that every one of them has computed. */
export interface Score {
  readonly calls: number;
  readonly totalMs: Readonly<Record<Routing, number>>;
  /** Of the GPU, the CPU and both the fastest, call by call. */
  readonly bestMs: number;
  /** What the others took where `auto` chose as they do: its choices, without the noise of its own times. */
  readonly chosenMs: number;
  /** Calls of `auto` by where they were computed. */
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
  auto: 'as the library decides',
};

const times = (ms: number, bestMs: number): string => (ms / bestMs).toFixed(3);

export const replayResult = (rows: readonly StampedRow[]): Parts => {
  const score = scoreOf(rowsOf(rows, 'replayed'));
  if (score.calls === 0) return [];
  const { calls, totalMs, bestMs, chosenMs, chosen } = score;
  const lines = [
    ...routings.map((routing) => ({ name: names[routing], ms: totalMs[routing] })),
    { name: 'its choices, by the times of the others', ms: chosenMs },
    { name: 'the best of the three for each call, known afterwards', ms: bestMs },
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

/** Seeds of traces that are made up, too. */
const SEEDS = [1, 2, 3] as const;

/** The same decisions on machines of which it is known what they take. */
export function simulated(): Part {
  const curve = curveContext(bn254);
  const results = Object.entries(machines).map(([name, machine]) => {
    const all = SEEDS.map((seed) => simulate(curve, machine, makeTrace(seed), seed));
    const sum = (of: (each: (typeof all)[number]) => number): number =>
      all.reduce((total, each) => total + of(each), 0);
    const worst = Math.max(...all.map(({ auto, best }) => auto / best));
    return { name, about: machine.about, all, worst, sum };
  });
  return tableOf('Simulated: traces of 491 calls on machines that are made up, ÷ the best', results, [
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
      'Decided',
      ({ sum }) =>
        times(
          sum(({ auto }) => auto),
          sum(({ best }) => best),
        ),
    ],
    ['Decided, worst', ({ worst }) => worst.toFixed(3)],
    [
      'Calls to GPU, CPU, both',
      ({ sum }) =>
        (['gpu', 'cpu', 'both'] as const)
          .map((route) => Math.round(sum(({ routes }) => routes[route]) / SEEDS.length))
          .join(', '),
    ],
  ]);
}
