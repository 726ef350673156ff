/** The modes of the bench in the order in which they are offered, and what the page asks about them. */

import { withBench } from './bench-setup.js';
import type { AnyKnobs } from './knob.js';
import { calibrate } from './modes/calibrate.js';
import { fieldBench } from './modes/field-bench.js';
import { loading } from './modes/loading.js';
import type { BenchMode } from './modes/mode.js';
import { msmCrossCheck } from './modes/msm-cross-check.js';
import { accumAb, msmBench, msmTrace, sweep } from './modes/msm-modes.js';
import { proof } from './modes/proof.js';
import { proofs } from './modes/proofs.js';
import { transforms } from './modes/transforms.js';
import type { Host } from './rows.js';
import type { Run } from './run.js';

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

export const modeNames = Object.keys(benchModes);

export const modeOf = (name: string): BenchMode => benchModes[name] as BenchMode;

export const pageModeNames = modeNames.filter((mode) => modeOf(mode).nodeOnly === undefined);

export const isGpuOnly = (mode: string): boolean => modeOf(mode).runsOn === 'gpu';

/** Runs a mode to its end, and never rejects: `run.bench` has the error. */
export const startBench = (run: Run, host: Host, knobs: AnyKnobs, mode: string): Promise<void> =>
  run.go(() => withBench(run, host, knobs, (bench) => modeOf(mode).run(bench, knobs)));
