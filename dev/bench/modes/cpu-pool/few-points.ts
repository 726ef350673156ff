/** Checks that sums too small for workers do not get slower if an engine may have many workers. */
import { median, ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { redrawn } from '../../../cases/msm-case.js';
import { formatMs } from '../../format.js';
import { interleave } from '../../interleave.js';
import { type Part, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { intervalText } from '../../summary.js';
import type { EngineWithWorkers } from '../../threads/engine-with-workers.js';
import type { Finding } from '../targets/findings.js';
import { caseOf, openEngine, type PoolBench } from './pool-bench.js';

const POINTS = 66;

/** Permitted workers; the first is the baseline. */
const PERMITTED = [1, 8, 32, 64];

/**
 * Calls a repetition, relative to one call of a large sum: differences of a few percent must be
 * detected.
 */
const CALLS_A_REPETITION = 40;

/** Warm-up calls: JavaScript compilers finish optimising after some dozens. */
const WARM_UPS = 30;

const TARGETS = { ratio: { most: 1.05 }, workers: { most: 0 } };

interface Timed {
  readonly permitted: number;
  readonly engine: EngineWithWorkers;
  readonly wallTimesMs: number[];
  mostWorkers: number;
}

export async function timeFewPoints(bench: PoolBench): Promise<RowOf<'few-points'>[]> {
  const { run, knobs } = bench;
  const few = caseOf(knobs, POINTS);
  const all: Timed[] = [];
  try {
    for (const permitted of PERMITTED) {
      await run.next(`${POINTS} points, ${permitted} workers permitted: warming up`);
      const engine = await openEngine(bench, permitted, few);
      all.push({ permitted, engine, wallTimesMs: [], mostWorkers: 0 });
      for (let i = 0; i < WARM_UPS; i++) await engine.call(few);
    }
    let drawn = few;
    await interleave(all, CALLS_A_REPETITION * knobs.reps, {
      begin: (repetition) => {
        drawn = redrawn(few, repetition);
      },
      async take(timed) {
        const { wallMs, record } = await timed.engine.call(drawn);
        timed.wallTimesMs.push(wallMs);
        timed.mostWorkers = Math.max(timed.mostWorkers, record.workers);
      },
      end: (repetition) => run.next(`${POINTS} points: repetition ${repetition} of ${CALLS_A_REPETITION * knobs.reps}`),
    });
  } finally {
    for (const { engine } of all) engine.subject.destroy();
  }
  const [one] = all as [Timed];
  const told = all.map((timed) => rowOf(timed, one));
  for (const row of told) run.emit(row);
  return told;
}

export const rowOf = ({ permitted, wallTimesMs, mostWorkers }: Timed, one: Timed) => ({
  event: 'few-points' as const,
  ...{ n: POINTS, permitted, calls: wallTimesMs.length, mostWorkers },
  medianMs: median(wallTimesMs) as number,
  /** Ratio to the engine that may have the fewest. */
  ratio: ratioOfMedians(one.wallTimesMs, wallTimesMs),
});

/** @param told summaries, of which the first is the baseline */
export const judgeFewPoints = (told: readonly RowOf<'few-points'>[]): Finding[] => [
  ...told.slice(1).map(({ permitted, ratio, calls }) => ({
    what: `${POINTS} points, ${permitted} workers permitted: median ÷ median with ${told[0]?.permitted}`,
    target: TARGETS.ratio,
    value: ratio.ratio,
    interval: calls < 2 ? null : ([ratio.low, ratio.high] as const),
  })),
  {
    what: `${POINTS} points: workers that took part`,
    target: TARGETS.workers,
    value: Math.max(...told.map(({ mostWorkers }) => mostWorkers)),
  },
];

export const fewPointsResult = (rows: readonly StampedRow[]): Part =>
  tableOf(`${POINTS} points, by the largest number of workers permitted`, rowsOf(rows, 'few-points'), [
    ['Workers permitted', ({ permitted }) => String(permitted)],
    ['Median, ms', ({ medianMs }) => ({ text: formatMs(medianMs), as: 'strong' })],
    [`÷ median with ${PERMITTED[0]}`, ({ ratio }) => ratio.ratio.toFixed(3)],
    ['95 % CI', ({ ratio }) => intervalText(ratio, 3)],
    ['Workers used', ({ mostWorkers }) => String(mostWorkers)],
    ['Calls', ({ calls }) => String(calls)],
  ]);
