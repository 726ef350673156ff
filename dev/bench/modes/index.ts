/** Modes of the bench, each in a module of this folder. */
import type { Host } from '../environment.js';
import type { Knobs } from '../knobs.js';
import type { Mode } from '../modes.js';
import type { Run } from '../run.js';
import { runTimings } from '../timings.js';
import { accumAb } from './accum-ab.js';
import { calibrate } from './calibrate.js';
import { cpuDistribution } from './cpu-distribution/index.js';
import { cpuPool } from './cpu-pool/index.js';
import { fieldBench } from './field-bench.js';
import { load } from './load/index.js';
import { loading } from './loading.js';
import type { BenchMode } from './mode.js';
import { msmCrossCheck } from './msm-cross-check.js';
import { msmTrace } from './msm-trace.js';
import { proofs } from './proofs/index.js';
import { targets } from './targets/index.js';
import { timingsResult } from './timings-result.js';

const timings: BenchMode = {
  run: (run, host, knobs) => runTimings(run, host, knobs, { bounded: true }),
  show: timingsResult,
};

export const benchModes: Readonly<Record<Mode, BenchMode>> = {
  'msm-cross-check': msmCrossCheck,
  'msm-bench': timings,
  'msm-trace': msmTrace,
  'accum-ab': accumAb,
  sweep: timings,
  'field-bench': fieldBench,
  calibrate,
  proofs,
  load,
  loading,
  'cpu-distribution': cpuDistribution,
  'cpu-pool': cpuPool,
  targets,
};

/** Runs a mode to its end, and never rejects: `run.bench` has the error. */
export const startBench = (run: Run, host: Host, knobs: Knobs, mode: Mode): Promise<void> =>
  run.go(() => benchModes[mode].run(run, host, knobs));
