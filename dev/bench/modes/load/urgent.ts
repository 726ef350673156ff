/** Measures interactive calls, one at a time, without and with background calls. */
import { nextTurn } from '../../../../src/scheduling/time-slice.js';
import type { Run } from '../../run.js';
import type { Job } from './jobs.js';
import { quantile } from './measure.js';
import type { Subject } from './subject.js';

/** Background callers: one call on the GPU, and one that waits. */
const BACKGROUND_CALLERS = 2;

/** Background calls from which the longest submit is measured. */
const BACKGROUND_ALONE = 3;

/**
 * Returns the milliseconds from a result to the next call. They vary, so that calls arrive at any
 * phase of a submit.
 */
const pauseOf = (index: number): number => 10 + ((37 * index) % 100);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** @throws Error if a result is wrong */
export async function measureUrgent(run: Run, { engine, compute }: Subject, urgent: readonly Job[], background: Job) {
  const latencies = async (): Promise<number[]> => {
    const found: number[] = [];
    for (const [i, job] of urgent.entries()) {
      await pause(pauseOf(i));
      const begun = performance.now();
      await compute(job, 'interactive');
      found.push(performance.now() - begun);
      run.tick();
    }
    return found;
  };
  let submitMs = 0;
  for (let i = 0; i < BACKGROUND_ALONE; i++) {
    await compute(background, 'background');
    const { hostTimes, submits } = engine.lastRun ?? {};
    submitMs = Math.max(submitMs, (hostTimes?.submitToResultMs ?? 0) / (submits || 1));
  }
  const alone = await latencies();
  let isOver = false;
  let done = 0;
  const callers = Array.from({ length: BACKGROUND_CALLERS }, async () => {
    while (!isOver) {
      await compute(background, 'background');
      done++;
      // sums that end within a time slice of the CPU would let no timer end a pause
      await nextTurn();
    }
  });
  let busy: number[];
  try {
    // a caller that fails ends the measurement
    busy = await Promise.race([latencies(), Promise.all(callers).then(() => [])]);
  } finally {
    isOver = true;
  }
  await Promise.all(callers);
  return {
    event: 'interactive' as const,
    n: urgent[0]?.n ?? 0,
    calls: urgent.length,
    ...{ backgroundN: background.n, backgroundDone: done },
    /** Longest submit of the background calls. */
    submitMs,
    aloneP50Ms: quantile(alone, 0.5),
    aloneP95Ms: quantile(alone, 0.95),
    busyP50Ms: quantile(busy, 0.5),
    busyP95Ms: quantile(busy, 0.95),
  };
}
