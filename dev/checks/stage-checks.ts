import type { Instrument } from '../../src/msm/stages/kernels.js';
import { findingsWords, readFindings } from './findings.js';
import { checkDispatches, checkScratch, instrument } from './instrument.js';
import { watch } from './kernels.js';

/** The instrument that checks on the GPU, after every stage, what the stage left in its buffers. */
export const stageChecks: Instrument = {
  scratch: checkScratch,
  dispatches: checkDispatches,
  findingsWords,
  walk: watch,
  instrument,
  read: readFindings,
};
