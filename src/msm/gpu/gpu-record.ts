import type { AdapterDescription } from '../../api/device.js';
import type { RunRecord } from '../../api/run-record.js';
import type { CallContext } from '../../session/call-context.js';
import type { Report } from '../../session/operation.js';
import { phasesOf } from '../../session/timeline.js';
import type { ScalarVector } from '../inputs/scalar-vectors.js';
import type { GpuFacts } from './msm-input.js';

/** Returns the record of a multiplication that the GPU computed. */
export const gpuRecord = (
  vectors: readonly ScalarVector[],
  { plan, entries, combineMs, isVerified }: GpuFacts,
  { dispatches, submits, uploadedBytes, timeline }: Report,
  { clock }: CallContext,
  facts: Pick<RunRecord, 'retried' | 'fallback'> & { readonly adapter: AdapterDescription },
): RunRecord => ({
  on: 'gpu',
  gpuShare: 1,
  arithmetic: null,
  workers: 0,
  noWorkers: null,
  n: vectors.reduce((sum, vector) => sum + vector.n, 0),
  vectors: vectors.length,
  windowBits: plan.tuning.windowBits,
  windows: plan.blocks * plan.vectorWindows,
  tasks: plan.levelTasks[0] as number,
  entries,
  dispatches,
  uploadedBytes,
  submits,
  ...clock.read(),
  ...facts,
  verified: isVerified,
  phases: timeline && phasesOf(timeline, combineMs),
  timeline,
  tuning: plan.tuning,
  predicted: null,
});
