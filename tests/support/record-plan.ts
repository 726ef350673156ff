import type { CurveContext } from '../../src/curves/curve.js';
import { recordJob } from '../../src/msm/gpu/record-job.js';
import { layOut, type Plan } from '../../src/msm/plan/planner.js';
import type { Batch, Job } from '../../src/msm/plan/schedule.js';
import { type DeviceProfile, type Knobs, resolveTuning } from '../../src/msm/plan/tuning.js';
import type { Workload } from '../../src/msm/plan/workload.js';
import type { Kernels } from '../../src/msm/stages/kernels.js';
import type { Command, Slice } from '../../src/shaders/kernel.js';

/** The plan of a workload without chunks, regardless of limits and budget. */
export const planOne = (
  load: Workload,
  curve: CurveContext,
  limits: DeviceProfile,
  overrides: Knobs,
  mostWindows = Number.POSITIVE_INFINITY,
): Plan => layOut(load, curve, resolveTuning(load, curve, limits, overrides), overrides.instrument, mostWindows);

/** The only part of a job: one vector of n scalars, with every buffer from its beginning on. */
const onlyPart = (plan: Plan, n = plan.n): Batch => ({
  plan,
  n,
  chunks: Array.from({ length: plan.vectors }, (_, vector) => ({ vector, first: 0, length: n })),
  bases: { first: 0, count: n },
  at: { scalars: 0, vectors: 0, picks: 0, accounts: 0, bitSums: 0 },
  ownSubmit: true,
});

/** A plan on its own, as a job. */
const jobOf = (plan: Plan, n = plan.n): Job => {
  const { accounts, bitSums, ...scratch } = plan.scratch;
  return { batches: [onlyPart(plan, n)], scratch, accounts, bitSums, submits: plan.submits, peakBytes: plan.peakBytes };
};

/** The commands of a plan on its own. */
export const recordPlan = (kernels: Kernels, plan: Plan, n: number, bases: Slice = { buffer: 'bases' }): Command[] =>
  recordJob(kernels, jobOf(plan, n), () => bases);
