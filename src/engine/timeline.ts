import type { PhaseTime, TimelineEntry } from '../api.js';
import type { JobResult } from '../gpu/runner.js';

/** Clocks of GPUs have been seen to go back: no time is less than 0. */
const milliseconds = (ns: bigint): number => (ns > 0n ? Number(ns) / 1e6 : 0);

/** The passes of jobs that ran one after the other on one device; null if one of them has no times. */
export const timelineOf = (jobs: readonly Pick<JobResult, 'passes' | 'submits'>[]): TimelineEntry[] | null => {
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
  return timeline;
};

/** What a timeline sums to, by name in the order in which the names first come; last the fold. */
export const phasesOf = (timeline: readonly TimelineEntry[], foldMs: number): PhaseTime[] => {
  const phases = new Map<string, number>();
  for (const { name, ms } of timeline) phases.set(name, (phases.get(name) ?? 0) + ms);
  return [...[...phases].map(([name, ms]) => ({ name, ms })), { name: 'fold (CPU)', ms: foldMs }];
};
