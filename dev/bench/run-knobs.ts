/** All knobs of a run, those that modes share and those of each mode, and their help. */
import { commonKnobs } from './common-knobs.js';
import type { KnobText } from './knob.js';
import { type Mode, modeNames, modeOf, notOnPage } from './modes.js';
import { engineKnobs, settingKnobs, sideKnobs } from './settings.js';

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

/** Returns the lines about a mode: its purpose, duration, limits, and an example. */
export function modeHelp(mode: Mode): string[] {
  const { title, about, takes, runsOn, limits, example } = modeOf(mode);
  const why = notOnPage(mode);
  return [
    `${title}: ${about}`,
    `With defaults it takes ${takes} on two cores${runsOn === 'cpu' ? '' : ' with a software adapter'}.`,
    ...(limits === undefined ? [] : [limits]),
    ...(why === null ? [] : [`In a terminal only: ${why}.`]),
    `Example: npm run bench -- ${example}`,
  ];
}

/** Returns the help of a knob, with its values and its default, in one mode or in general. */
export function knobHelp(mode: Mode | null, name: string): string {
  if (name === 'build') return 'The library in DIR/dist.';
  const engine = engineKnobs[name];
  if (engine !== undefined) {
    const values = 'words' in engine ? Object.keys(engine.words).join(', ') : engine.range.join(' to ');
    return `${engine.help} Values: ${values}.`;
  }
  const { help, values, unset } = mode === null ? (runKnobs[name] as KnobText) : knobText(mode, name);
  return [help, values && `Values: ${values}.`, unset && `Default: ${unset}.`].filter((part) => part !== '').join(' ');
}

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
