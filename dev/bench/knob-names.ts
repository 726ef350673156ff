/** Names of knobs, and the modes that use them. */
import { type Mode, modeNames, modeOf } from './modes.js';
import { type RunKnobName, runKnobs } from './run-knobs.js';
import { engineKnobs, settingKnobs, sideKnobs } from './settings.js';

/** Matches a knob of one side of a comparison: `a.walkerpriv`. */
export const sideKnob = /^([ab])\.(.+)$/;

export const isEngineKnob = (name: string): boolean => settingKnobs.includes(name);

/** Returns whether a name is a knob of the engine, or of one side of a comparison. */
export const isSettingKnob = (name: string): boolean =>
  sideKnob.test(name) ? sideKnobs.includes(withoutSide(name)) : isEngineKnob(name);

export const isRunKnob = (name: string): name is RunKnobName => Object.hasOwn(runKnobs, name);

/** Strips the side from a name: `walkerpriv` for `a.walkerpriv`. */
export const withoutSide = (name: string): string => sideKnob.exec(name)?.[2] ?? name;

export const isKnob = (name: string): boolean => isRunKnob(name) || isSettingKnob(name);

export const engineNames = ['', 'a.', 'b.'].flatMap((side) => Object.keys(engineKnobs).map((name) => side + name));

export const knobNames = [...Object.keys(runKnobs), ...engineNames];

function uses(mode: Mode, name: string): boolean {
  const { knobs, uses: common, engine, settings } = modeOf(mode);
  if (withoutSide(name) !== name) return settings === 'sides';
  const run: readonly string[] = ['autorun', ...common];
  return run.includes(name) || Object.hasOwn(knobs, name) || engine.includes(name);
}

export const modesOf = (name: string): readonly Mode[] => modeNames.filter((mode) => uses(mode, name));

export const knobsOf = (mode: Mode | null): string[] =>
  [
    ...Object.keys(runKnobs),
    ...settingKnobs,
    ...['a.', 'b.'].flatMap((side) => sideKnobs.map((name) => side + name)),
  ].filter((name) => mode === null || uses(mode, name));
