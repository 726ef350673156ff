/** All knobs of a run: those that modes share, and those of each mode. */
import { commonKnobs } from './common-knobs.js';
import type { KnobText } from './knob.js';
import { modeNames, modeOf } from './modes.js';

/** Knobs of a run, in the order of the form; a knob of several modes has the texts of the first. */
export const runKnobs: Readonly<Record<string, KnobText>> = {
  // first for the order, and last so that no mode changes them
  ...commonKnobs,
  ...Object.fromEntries(modeNames.toReversed().flatMap((mode) => Object.entries(modeOf(mode).knobs))),
  ...commonKnobs,
};

export type RunKnobName = string;

/** Returns the texts of a knob of a run in a mode: its values, and what holds without it. */
export function knobText(mode: string, name: string): KnobText {
  const { knobs, defaults } = modeOf(mode);
  const text = knobs[name] ?? (runKnobs[name] as KnobText);
  const own = { reps: defaults.reps ?? DEFAULT_REPS, logn: (defaults.logn ?? DEFAULT_LOGN).join(',') };
  return Object.hasOwn(knobs, name) || !Object.hasOwn(own, name)
    ? text
    : { ...text, unset: String(own[name as keyof typeof own]) };
}

/** Repetitions, and sizes, of a mode that has no others. */
export const DEFAULT_REPS = 5;
export const DEFAULT_LOGN: readonly number[] = [12];
