import type { PhaseTime, TimelineEntry } from '../api/run-record.js';
import type { SubmissionResult } from '../gpu/submission.js';

/** Clocks of GPUs have been seen to go back: no time is less than 0. */
const milliseconds = (ns: bigint): number => (ns > 0n ? Number(ns) / 1e6 : 0);

/** What a GPU's times may exceed the host's by and still be believed: clocks of browsers are coarse, and none is exact. */
const LEEWAY = { factor: 1.25, ms: 20 } as const;

/**
 * The passes of jobs that ran one after the other on one device.
 *
 * @param submitToResultMs of all jobs by the host's clock, in which everything that the GPU did lies
 * @returns null if a job has no times, or together they are longer than that: a GPU whose ticks are not what it says they are (one of
 *   19.2 MHz that says nanoseconds is wrong by a factor of 52)
 */
export const timelineOf = (
  jobs: readonly Pick<SubmissionResult, 'passes' | 'submits'>[],
  submitToResultMs: number,
): TimelineEntry[] | null => {
  const timeline: TimelineEntry[] = [];
  let origin: bigint | undefined;
  let submitsBefore = 0;
  for (const { passes, submits } of jobs) {
    if (passes === null) return null;
    for (const { phase, submit, begin, end } of passes) {
      // taken as integers: a double does not hold the nanoseconds of a GPU that has been on for months
      origin ??= begin;
      timeline.push({
        name: phase,
        startMs: milliseconds(begin - origin),
        ms: milliseconds(end - begin),
        submit: submitsBefore + submit,
      });
    }
    submitsBefore += submits;
  }
  const busyMs = timeline.reduce((sum, { ms }) => sum + ms, 0);
  return busyMs <= LEEWAY.factor * submitToResultMs + LEEWAY.ms ? timeline : null;
};

/** What a timeline sums to, by name in the order in which the names first come; last the fold. */
export const phasesOf = (timeline: readonly TimelineEntry[], combineMs: number): PhaseTime[] => {
  const phases = new Map<string, number>();
  for (const { name, ms } of timeline) phases.set(name, (phases.get(name) ?? 0) + ms);
  return [...[...phases].map(([name, ms]) => ({ name, ms })), { name: 'fold (CPU)', ms: combineMs }];
};
