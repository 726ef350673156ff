/** The modes of the bench by name, and what the page asks about them. */
import { withBench } from './bench-setup.js';
import type { Host } from './environment.js';
import type { AnyKnobs } from './knob.js';
import { benchModes } from './modes/index.js';
import type { BenchMode } from './modes/mode.js';
import type { Run } from './run.js';

export { benchModes as modes } from './modes/index.js';

export type Mode = string;

export const modeNames = Object.keys(benchModes) as Mode[];

export const modeOf = (name: Mode): BenchMode => benchModes[name] as BenchMode;

/** Returns why a mode does not run on a page; null if it does. */
export const notOnPage = (mode: Mode): string | null => modeOf(mode).nodeOnly ?? null;

export const pageModeNames = modeNames.filter((mode) => notOnPage(mode) === null);

export const isGpuOnly = (mode: Mode): boolean => modeOf(mode).runsOn === 'gpu';

/** Runs a mode to its end, and never rejects: `run.bench` has the error. */
export const startBench = (run: Run, host: Host, knobs: AnyKnobs, mode: Mode): Promise<void> =>
  run.go(() => withBench(run, host, knobs, (bench) => modeOf(mode).run(bench, knobs)));
