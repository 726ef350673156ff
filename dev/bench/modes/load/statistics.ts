/** What the times and events of jobs come to. */
import type { EngineEvent } from '../../../../src/api/sharing.js';
import type { JobTime } from './callers.js';

/** The least of the values that so large a share of them does not exceed; of none not a number. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** What a job does from its call to its result, in milliseconds since the first call. */
export interface JobSpans {
  readonly calledAt: number;
  /** It waits no more. */
  readonly startedAt: number;
  /** The GPU has it, and is done with those before. */
  readonly onGpuAt: number;
  readonly computedAt: number;
  readonly endedAt: number;
}

/** Calls that are computed together are told of it in a row; what is submitted by itself takes longer to encode. */
const TOGETHER_MS = 0.1;

/**
 * Job by job, where the GPU computed all of them; else nothing.
 *
 * @param times in the order of the calls
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

/** The share of the time in which there was work for the GPU, and it had none; null where it computed nothing. */
export function idleShareOf(gpuMs: number, spans: readonly JobSpans[]): number | null {
  if (spans.length === 0) return null;
  // what follows the last result is folding, with nothing left to compute
  const workingMs = Math.max(...spans.map(({ computedAt }) => computedAt));
  return Math.max(0, 1 - gpuMs / workingMs);
}
