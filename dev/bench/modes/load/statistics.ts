/** Statistics of the times and events of jobs. */
import type { EngineEvent } from '../../../../src/api/sharing.js';
import type { JobTime } from './callers.js';

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
