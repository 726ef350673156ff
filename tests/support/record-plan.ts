import { recordJob } from '../../src/msm/gpu/record-job.js';
import type { Plan } from '../../src/msm/plan/planner.js';
import type { Batch, Job } from '../../src/msm/plan/schedule.js';
import type { Kernels } from '../../src/msm/stages/kernels.js';
import type { Command, Slice } from '../../src/shaders/kernel.js';

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
