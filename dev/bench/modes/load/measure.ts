/** Measures one pass through the jobs at one concurrency, and the phases of each job. */
import type { EngineEvent, EngineStats } from '../../../../src/api/calls.js';
import { nextTurn } from '../../../../src/scheduling/time-slice.js';
import type { Run } from '../../run.js';
import type { Job, Mix } from './jobs.js';
import type { Subject } from './subject.js';

/** @throws Error if a result is wrong */
export async function measurePass(
  { engine, events, label, memoryBudget, scratch, compute, promised }: Subject,
  jobs: readonly Job[],
  mix: Mix,
  concurrency: number,
  repetition: number,
) {
  const promisedBytes = await promised(jobs, concurrency);
  const before = engine.stats;
  events.length = 0;
  scratch.most = scratch.now();
  const { times, wallMs, begunAt } = await callInLoops(jobs, concurrency, (job) => compute(job));
  const after = engine.stats;
  const grown = (what: keyof EngineStats): number => after[what] - before[what];
  const latencies = times.map(({ ms }) => ms);
  const spans = spansOf(times, events, begunAt);
  const row = {
    event: 'load' as const,
    /** `sharing`: kinds of sharing between calls, all of them, or all but one. */
    ...{ mix, concurrency, sharing: label, repetition, jobs: jobs.length, wallMs },
    jobsPerSecond: (1000 * jobs.length) / wallMs,
    p50Ms: quantile(latencies, 0.5),
    p95Ms: quantile(latencies, 0.95),
    /** Calls that were coalesced with others. */
    merged: grown('merged'),
    gpuMs: grown('gpuMs'),
    /** Milliseconds that all calls together waited. */
    waitedMs: grown('waitedMs'),
    idleShare: idleShareOf(grown('gpuMs'), spans),
    /** Largest scratch of the engine so far, and at an event of this pass. */
    ...{ peakBytes: engine.memory.peak, scratchBytes: scratch.most },
    /** Planned scratch of as many of the largest jobs as there are callers, at most the budget. */
    ...{ promisedBytes, budgetBytes: memoryBudget },
    freesPerSecond: (1000 * grown('frees')) / wallMs,
  };
  return { row, spans };
}

/** Time of the call of a job, and its latency, in milliseconds. */
export interface JobTime {
  readonly calledAt: number;
  readonly ms: number;
}

/**
 * Runs jobs in a closed loop: each of the concurrent callers takes the next job when its last one
 * is done.
 *
 * @returns times in order of the jobs, and the wall time from the first call to the last result
 */
export async function callInLoops<Job>(
  jobs: readonly Job[],
  concurrency: number,
  compute: (job: Job) => Promise<void>,
): Promise<{ readonly times: readonly JobTime[]; readonly wallMs: number; readonly begunAt: number }> {
  const times: JobTime[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < jobs.length) {
      const index = next++;
      const calledAt = performance.now();
      try {
        await compute(jobs[index] as Job);
      } catch (error) {
        // stops the other callers
        next = jobs.length;
        throw error;
      }
      times[index] = { calledAt, ms: performance.now() - calledAt };
    }
  };
  const begunAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, caller));
  return { times, wallMs: performance.now() - begunAt, begunAt };
}

/**
 * Returns the smallest value that at least `share` of the values do not exceed; NaN for no values.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Phases of a job from its call to its result, in milliseconds since the first call. */
export interface JobSpans {
  readonly calledAt: number;
  /** End of the time in the queue. */
  readonly startedAt: number;
  /** Begin of its work on the GPU, which has finished all earlier jobs. */
  readonly onGpuAt: number;
  readonly computedAt: number;
  readonly endedAt: number;
}

/**
 * Coalesced calls report their submits at almost the same time; separate submits take longer to
 * encode.
 */
const TOGETHER_MS = 0.1;

/**
 * Returns the phases of all jobs; empty unless the GPU computed all of them.
 *
 * @param times times in order of the calls
 */
export function spansOf(times: readonly JobTime[], events: readonly EngineEvent[], begunAt: number): JobSpans[] {
  const calls = [...new Set(events.map(({ call }) => call))].sort((a, b) => a - b);
  const last = new Map(events.map((each) => [`${each.call} ${each.event}`, each.at]));
  const known = times.map(({ calledAt, ms }, i) => {
    const at = (event: EngineEvent['event']): number => (last.get(`${calls[i]} ${event}`) ?? Number.NaN) - begunAt;
    return {
      calledAt: calledAt - begunAt,
      startedAt: at('started'),
      submittedAt: at('submitted'),
      computedAt: at('computed'),
      endedAt: calledAt + ms - begunAt,
    };
  });
  if (known.some(({ submittedAt, computedAt }) => Number.isNaN(submittedAt + computedAt))) return [];
  return known.map(({ submittedAt, ...job }) => {
    const before = known.flatMap((other) =>
      other.submittedAt < submittedAt - TOGETHER_MS ? [Math.min(other.computedAt, job.computedAt)] : [],
    );
    return { ...job, onGpuAt: Math.max(submittedAt, ...before) };
  });
}

/** Returns the share of time in which the GPU had work but idled; null if it computed nothing. */
export function idleShareOf(gpuMs: number, spans: readonly JobSpans[]): number | null {
  if (spans.length === 0) return null;
  // after the last computed result only windows are combined, which needs no GPU
  const workingMs = Math.max(...spans.map(({ computedAt }) => computedAt));
  return Math.max(0, 1 - gpuMs / workingMs);
}

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
    const record = engine.lastRun;
    if (record?.on !== 'gpu') continue;
    submitMs = Math.max(submitMs, (record.hostTimes?.submitToResultMs ?? 0) / record.submits);
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
