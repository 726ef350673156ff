/** Registers the modes of the bench, in the order in which they are offered. */
import { accumAb } from './accum-ab.js';
import { calibrate } from './calibrate.js';
import { fieldBench } from './field-bench.js';
import { loading } from './loading.js';
import type { BenchMode } from './mode.js';
import { msmBench, sweep } from './msm-bench.js';
import { msmCrossCheck } from './msm-cross-check.js';
import { msmTrace } from './msm-trace.js';
import { proof } from './proof/index.js';
import { proofs } from './proofs/index.js';
import { transforms } from './transforms.js';

export const benchModes: Readonly<Record<string, BenchMode>> = {
  'msm-bench': msmBench,
  sweep,
  'accum-ab': accumAb,
  'msm-cross-check': msmCrossCheck,
  'msm-trace': msmTrace,
  'field-bench': fieldBench,
  calibrate,
  loading,
  proof,
  proofs,
  transforms,
};
