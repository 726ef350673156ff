import type { Command, Slice } from '../../src/gpu/commands.js';
import type { Plan } from '../../src/plan/planner.js';
import type { Part } from '../../src/plan/schedule.js';
import { recordJob } from '../../src/record/record.js';
import type { Kernels } from '../../src/stages/kernels.js';

/** The only part of a job: one vector of n scalars, with every buffer from its beginning on. */
export const onlyPart = (plan: Plan, n = plan.n): Part => ({
  plan,
  n,
  pieces: Array.from({ length: plan.vectors }, (_, vector) => ({ vector, first: 0, length: n })),
  bases: { first: 0, count: n },
  at: { scalars: 0, vectors: 0, picks: 0, bitSums: 0, tally: 0, findings: 0 },
  apart: true,
});

/** The commands of a plan on its own. */
export const recordPlan = (kernels: Kernels, plan: Plan, n: number, bases: Slice = { buffer: 'bases' }): Command[] =>
  recordJob(kernels, { parts: [onlyPart(plan, n)], scratch: plan.scratch, submits: plan.submits }, () => bases);
