/** Costs of runs before they run. */
import type { FieldPlan } from '../../api/fields.js';
import { bufferBytes, bytesOf, wantsOf } from '../../gpu/device-memory.js';
import { PlannedSubmission } from '../../gpu/submission.js';
import type { DeviceView } from '../../session/operation.js';
import type { FieldJob } from './field-job.js';
import { type JobPlan, planOf, submissionOf } from './field-operation.js';
import type { FieldSetup } from './setup.js';

type View = DeviceView<FieldSetup>;

/** Costs of a job. */
type Costs = Pick<FieldPlan, 'products' | 'passes' | 'dispatches' | 'submits' | 'bytes'>;

const sizesOf = ({ emitted }: JobPlan, hasTimestamps: boolean): { dispatches: number; bytes: number } => {
  const planned = new PlannedSubmission(submissionOf(emitted, null), new Map(), hasTimestamps, 0);
  return { dispatches: planned.dispatches, bytes: bytesOf(wantsOf(planned.wanted)) };
};

/**
 * Returns the costs of a run.
 *
 * @param tables job that makes its table of powers first; null: there is one
 * @throws MsmError as `planOf`
 */
export const costsOf = (job: FieldJob, tables: FieldJob | null, view: View, hasTimestamps: boolean): Costs => {
  const plan = planOf(job, view, false);
  const { dispatches, bytes } = sizesOf(plan, hasTimestamps);
  const check = job.check ? sizesOf(planOf(job, view, true), hasTimestamps).bytes : 0;
  const kept = job.outputBytes === 0 ? 0 : bufferBytes(job.outputBytes);
  const run = kept + Math.max(bytes, check);
  const { products, passes } = plan.emitted;
  const counts = { products, passes, dispatches, submits: plan.submits };
  if (tables === null) return { ...counts, bytes: run };
  const made = sizesOf(planOf(tables, view, false), hasTimestamps).bytes;
  return { ...counts, bytes: bufferBytes(tables.outputBytes) + Math.max(made, run) };
};
