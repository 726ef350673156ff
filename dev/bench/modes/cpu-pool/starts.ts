/**
 * Measures the start of workers: the first call of an engine against a later one, and the time
 * until workers are ready.
 */
import { median, ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { redrawn } from '../../../cases/msm-case.js';
import { formatMs } from '../../format.js';
import { interleave } from '../../interleave.js';
import { type Part, tableOf } from '../../parts.js';
import { rowsOf, type StampedRow } from '../../rows.js';
import { grouped, intervalText } from '../../summary.js';
import { startBareThreads } from '../../threads/bare-threads.js';
import { openEngine, type PoolBench } from './pool-bench.js';

/** Returns 0 as a baseline, powers of two below the largest number, and that number. */
export const workerCounts = (most: number): number[] => {
  const powers = Array.from({ length: Math.ceil(Math.log2(most)) }, (_, log) => 2 ** log);
  return [0, ...powers, most];
};

export async function timeStarts(bench: PoolBench): Promise<void> {
  const { run, knobs, most, large } = bench;
  await interleave(workerCounts(most), knobs.reps, {
    async take(workers, repetition) {
      await run.next(`Starting ${workers} workers: repetition ${repetition} of ${knobs.reps}`);
      run.emit(await timeFirstCall(bench, workers, repetition));
      if (workers > 0) {
        const { readyMs, end } = await startBareThreads('worker', workers);
        await end();
        const [firstMs, lastMs] = [readyMs[0] as number, readyMs.at(-1) as number];
        run.emit({ event: 'ready', workers, repetition, firstMs, lastMs });
      }
      run.advance(large.address.n);
    },
  });
}

export async function timeFirstCall(bench: PoolBench, permitted: number, repetition: number) {
  const { large } = bench;
  const drawn = redrawn(large, repetition);
  const engine = await openEngine(bench, permitted, large);
  try {
    const first = await engine.call(drawn);
    await engine.awaitWorkers(large);
    const warm = await engine.callWithWorkers(drawn);
    return {
      event: 'first-call' as const,
      ...{ n: large.address.n, permitted, repetition },
      firstMs: first.wallMs,
      firstWorkers: first.record.workers,
      warmMs: warm.wallMs,
      warmWorkers: warm.record.workers,
    };
  } finally {
    engine.subject.destroy();
  }
}

/** Formats the smallest and the largest value, or one value if they are equal. */
const span = (values: readonly number[]): string =>
  [...new Set([Math.min(...values), Math.max(...values)])].join(' – ');

const middle = (values: readonly number[]): string => formatMs(median(values));

export function startsResult(rows: readonly StampedRow[]): Part {
  const ready = rowsOf(rows, 'ready');
  const items = grouped(rowsOf(rows, 'first-call'), ({ permitted }) => String(permitted)).map((calls) => {
    const permitted = calls[0]?.permitted ?? 0;
    const [firstMs, warmMs] = [calls.map((call) => call.firstMs), calls.map((call) => call.warmMs)];
    const own = ready.filter(({ workers }) => workers === permitted);
    return { permitted, calls, firstMs, warmMs, ratio: ratioOfMedians(warmMs, firstMs), ready: own };
  });
  return tableOf('Cost of starting workers, medians', items, [
    ['Workers permitted', ({ permitted }) => String(permitted)],
    ['First call, ms', ({ firstMs }) => middle(firstMs)],
    ['Workers of the first call', ({ calls }) => span(calls.map(({ firstWorkers }) => firstWorkers))],
    ['Warm call, ms', ({ warmMs }) => ({ text: middle(warmMs), as: 'strong' })],
    ['Workers of the warm call', ({ calls }) => span(calls.map(({ warmWorkers }) => warmWorkers))],
    ['First ÷ warm', ({ ratio }) => ratio.ratio.toFixed(2)],
    ['95 % CI', ({ ratio }) => intervalText(ratio)],
    ['First worker ready, ms', (item) => middle(item.ready.map(({ firstMs }) => firstMs))],
    ['All workers ready, ms', (item) => middle(item.ready.map(({ lastMs }) => lastMs))],
  ]);
}
