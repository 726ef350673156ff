/** Default values of the knobs, as placeholders of the form. */
import { defaultBudget } from '../../src/msm/plan/device-profiles.js';
import type { Mode } from '../bench/modes.js';
import { knobText, runKnobs } from '../bench/run-knobs.js';
import { makeSetting } from '../bench/settings.js';

type Defaults = Readonly<Record<string, string>>;

/** Returns the defaults of the knobs of a run by name. */
export const defaultsOf = (mode: Mode): Defaults =>
  Object.fromEntries(Object.keys(runKnobs).map((name) => [name, knobText(mode, name).unset]));

const { precompute, verify, checks, tuning } = makeSetting(new Map());

/** Defaults of the engine's knobs by name. The engine chooses the others by size and device. */
export const engineDefaults: Defaults = {
  precompute: String(precompute),
  budget: String(defaultBudget({ vendor: '', architecture: '' }) / 2 ** 20),
  verify: String(Number(verify)),
  checks: String(Number(checks)),
  backend: 'gpu',
  cpubelow: String(tuning.cpuBelow),
};
