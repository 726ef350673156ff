import type { AffinePoint, Coordinate } from '../../api/values.js';
import { addAffine, infinityOf, type Jacobian, toAffine } from '../../curves/jacobian.js';
import type { Runner } from '../../gpu/runner.js';
import type { Job } from '../plan/schedule.js';
import type { SurveyedScalars } from '../scalar-vectors.js';
import { affineOf, publicPoint } from '../stages/fold.js';
import { type JobContext, type JobOutcome, runJob } from './run-job.js';

/** Vectors, and the jobs that compute their sums. */
export interface VectorJobs {
  readonly vectors: readonly SurveyedScalars[];
  readonly jobs: readonly Job[];
}

export const submitsOf = ({ jobs }: VectorJobs): number => jobs.reduce((sum, { submits }) => sum + submits, 0);

export interface Evaluation {
  /** One for each vector. */
  readonly sums: readonly AffinePoint<Coordinate>[];
  readonly outcomes: readonly JobOutcome[];
}

/**
 * Computes the sums of vectors, job by job, and adds up what was cut into chunks.
 *
 * @param tick called before each submit with how many there were; what it throws ends it
 * @throws MsmError as `runJob`
 */
export const evaluate = async (
  runner: Runner,
  context: Omit<JobContext, 'vectors'>,
  { vectors, jobs }: VectorJobs,
  tick: (done: number) => void,
): Promise<Evaluation> => {
  const { curve, clock } = context;
  const outcomes: JobOutcome[] = [];
  const totals = vectors.map(() => infinityOf(curve));
  let before = 0;
  for (const job of jobs) {
    clock.enter('encodeMs');
    tick(before);
    const outcome = await runJob(runner, { ...context, vectors }, job, (done) => tick(before + done));
    job.batches.forEach(({ chunks }, part) => {
      chunks.forEach(({ vector }, piece) => {
        const sum = outcome.sums[part]?.[piece] as AffinePoint<Coordinate>;
        totals[vector] = addAffine(curve, totals[vector] as Jacobian, affineOf(sum));
      });
    });
    outcomes.push(outcome);
    before += outcome.submits;
  }
  return { sums: totals.map((total) => publicPoint(curve, toAffine(curve, total))), outcomes };
};
