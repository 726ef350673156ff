import type { PhaseTime, TimelineEntry } from '../api/run-record.js';
import type { SubmissionResult } from '../gpu/submission.js';

/** Converts to milliseconds. Clocks of some GPUs go back, so negative times become 0. */
const milliseconds = (ns: bigint): number => (ns > 0n ? Number(ns) / 1e6 : 0);

/** Tolerance for GPU times above the host's time, because clocks of browsers are coarse. */
const LEEWAY = { factor: 1.25, ms: 20 } as const;

/**
 * Joins the passes of jobs that ran one after the other on one device.
 *
 * @param submitToResultMs time of all jobs by the host's clock; it contains all work of the GPU
 * @returns null if a job has no times, or if together they exceed `submitToResultMs`. Some GPUs
 * report ticks as nanoseconds: with ticks of 19.2 MHz times are wrong by a factor of 52
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
      // subtracts BigInts: a double cannot hold the nanoseconds of a GPU that ran for months
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

/**
 * Sums a timeline by name, in the order in which the names first come. The time of combining
 * windows is last.
 */
export const phasesOf = (timeline: readonly TimelineEntry[], combineMs: number): PhaseTime[] => {
  const phases = new Map<string, number>();
  for (const { name, ms } of timeline) phases.set(name, (phases.get(name) ?? 0) + ms);
  return [...[...phases].map(([name, ms]) => ({ name, ms })), { name: 'combine windows (CPU)', ms: combineMs }];
};
