/** Measures one pass through the jobs at one concurrency. */
import type { EngineStats } from '../../../../src/api/sharing.js';
import type { RowOf } from '../../rows.js';
import { callInLoops } from './callers.js';
import type { Mix } from './jobs.js';
import type { Job } from './problem.js';
import { idleShareOf, type JobSpans, quantile, spansOf } from './statistics.js';
import type { Subject } from './subject.js';

export interface Pass {
  readonly row: RowOf<'load'>;
  readonly spans: readonly JobSpans[];
}

/** @throws Error if a result is wrong */
export async function measurePass(
  { engine, events, label, memoryBudget, scratch, compute, promised }: Subject,
  jobs: readonly Job[],
  mix: Mix,
  concurrency: number,
  repetition: number,
): Promise<Pass> {
  const promisedBytes = await promised(jobs, concurrency);
  const before = engine.stats;
  events.length = 0;
  scratch.most = scratch.now();
  const { times, wallMs, begunAt } = await callInLoops(jobs, concurrency, (job) => compute(job));
  const after = engine.stats;
  const grown = (what: Exclude<keyof EngineStats, 'calibration'>): number => after[what] - before[what];
  const latencies = times.map(({ ms }) => ms);
  const spans = spansOf(times, events, begunAt);
  const row: RowOf<'load'> = {
    event: 'load',
    ...{ mix, concurrency, sharing: label, repetition, jobs: jobs.length, wallMs },
    jobsPerSecond: (1000 * jobs.length) / wallMs,
    p50Ms: quantile(latencies, 0.5),
    p95Ms: quantile(latencies, 0.95),
    merged: grown('merged'),
    gpuMs: grown('gpuMs'),
    waitedMs: grown('waitedMs'),
    idleShare: idleShareOf(grown('gpuMs'), spans),
    peakBytes: engine.memory.peak,
    scratchBytes: scratch.most,
    ...{ promisedBytes, budgetBytes: memoryBudget },
    freesPerSecond: (1000 * grown('frees')) / wallMs,
  };
  return { row, spans };
}
