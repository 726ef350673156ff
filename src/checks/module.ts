import type { Checks } from '../msm/gpu/checks.js';
import { findingsWords, readFindings } from './findings.js';
import { kernels, watch } from './kernels.js';
import { checkDispatches, weave } from './weave.js';

/** What the engine is handed; programs know of it where it is from. */
export const checks: Checks = {
  from: 'webgpu-msm/checks',
  scratch: (stream, { buckets, splitTasks, bitsTasks }) => ({
    digits: stream,
    bucketWriters: 4 * buckets,
    splitWriters: 4 * splitTasks,
    bitWriters: 4 * bitsTasks,
  }),
  dispatches: checkDispatches,
  findingsWords,
  kernels,
  watch,
  weave,
  read: readFindings,
};
