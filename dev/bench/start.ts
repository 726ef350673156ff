/** Starts what the knobs ask for. */
import { runAccumAb } from './accum-ab.js';
import { runCalibrate } from './calibrate.js';
import type { Host } from './environment.js';
import { runFieldBench } from './field-bench.js';
import type { Knobs } from './knobs.js';
import type { Mode } from './modes.js';
import { runMsmCrossCheck } from './msm-cross-check.js';
import { runMsmTrace } from './msm-trace.js';
import type { Run } from './run.js';
import { runTimings } from './timings.js';

const runs: Readonly<Record<Mode, (run: Run, host: Host, knobs: Knobs) => Promise<void>>> = {
  'msm-cross-check': runMsmCrossCheck,
  'msm-bench': runTimings,
  'msm-trace': runMsmTrace,
  'accum-ab': runAccumAb,
  sweep: runTimings,
  'field-bench': runFieldBench,
  calibrate: runCalibrate,
};

/** Runs to an end, and rejects never: `run.bench` has what went wrong. */
export const startBench = (run: Run, host: Host, knobs: Knobs, mode: Mode): Promise<void> =>
  run.go(() => runs[mode](run, host, knobs));
