/**
 * `modes`: the modes of the bench, from their own descriptions. `bench-knobs`: the knobs that modes
 * share, other than those of `tuning`.
 */
import { commonKnobs, type KnobText } from '../../../dev/bench/knob.js';
import { knobText } from '../../../dev/bench/knobs.js';
import type { BenchMode } from '../../../dev/bench/modes/mode.js';
import { benchModes } from '../../../dev/bench/modes.js';
import { type EngineKnob, engineKnobs, knobOfTuning } from '../../../dev/bench/settings.js';
import { membersOf } from '../declarations.js';
import { code, table } from '../markdown.js';
import type { Blocks } from '../pages.js';

const modes = Object.entries<BenchMode>(benchModes);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const sentence = (text: string): string => (/[.?!]$/.test(text) ? capital(text) : `${capital(text)}.`);

const gpu = { gpu: 'needed', either: 'not with `backend=cpu`' } as const;

const overview = (): string =>
  table(
    ['mode', 'purpose', 'takes', 'runs in', 'GPU'],
    modes.map(([name, { about, takes, nodeOnly, runsOn }]) => [
      `[\`${name}\`](#${name})`,
      sentence(about),
      takes,
      nodeOnly === undefined ? 'page, terminal' : 'terminal',
      gpu[runsOn],
    ]),
  );

const knobsOfTuning = membersOf('src/api/device.ts', 'Tuning').map(({ name }) => knobOfTuning(name));

/** Shared knobs whose default each mode may choose. */
const ofMode: readonly string[] = ['reps', 'logn'];

/** Returns the knobs that a mode shares with others, with defaults of its own in brackets. */
const sharedOf = (name: string, { uses, engine }: BenchMode): string => {
  const names = uses.map((knob) =>
    ofMode.includes(knob) ? `${code(knob)} (${knobText(name, knob).unset})` : code(knob),
  );
  const takesTuning = engine.some((knob) => knobsOfTuning.includes(knob));
  return [...names, ...(takesTuning ? ['all knobs of the engine'] : engine.map(code))].join(', ');
};

/** Returns the example, the limits and the knobs of a mode. */
const sectionOf = ([name, mode]: readonly [string, BenchMode]): string => {
  const { example, limits, nodeOnly, knobs } = mode;
  const notes = [limits, nodeOnly === undefined ? undefined : `Terminal only: ${nodeOnly}`];
  const own = Object.entries<KnobText>(knobs).map(([knob, { values, unset, help }]) => [
    code(knob),
    values,
    unset,
    help,
  ]);
  const shared = sharedOf(name, mode);
  return [
    `## ${name}`,
    `\`\`\`sh\nnpm run bench -- ${example}\n\`\`\``,
    ...notes.flatMap((text) => (text === undefined ? [] : [sentence(text)])),
    ...(own.length === 0 ? [] : [table(['knob', 'values', 'default', 'meaning'], own)]),
    ...(shared === '' ? [] : [`Shared knobs: ${shared}.`]),
  ].join('\n\n');
};

const valuesOf = (knob: EngineKnob): string =>
  'range' in knob ? knob.range.join(' to ') : Object.keys(knob.words).map(code).join(', ');

/** Modes that compute the MSMs that the knobs describe. */
const msmModes = modes.filter(([, { uses }]) => (uses as readonly string[]).includes('points')).map(([name]) => name);

/** Returns the modes that satisfy a condition, as briefly as possible. */
const modesText = (takes: (mode: BenchMode) => boolean): string => {
  const those = modes.filter(([, mode]) => takes(mode)).map(([name]) => name);
  const others = modes.filter(([, mode]) => !takes(mode)).map(([name]) => code(name));
  if (others.length === 0) return 'all';
  if (others.length < those.length) return `all but ${others.join(', ')}`;
  const ofMsms = msmModes.every((name) => those.includes(name));
  const rest = ofMsms ? those.filter((name) => !msmModes.includes(name)) : those;
  return [...(ofMsms ? ['MSM modes'] : []), ...rest.map(code)].join(', ');
};

const benchKnobs = (): string[][] => [
  ...Object.entries<KnobText>(commonKnobs).map(([name, { values, unset, help }]) => [
    code(name),
    values,
    ofMode.includes(name) ? 'by the mode' : unset,
    name === 'autorun' ? 'all' : modesText(({ uses }) => (uses as readonly string[]).includes(name)),
    help,
  ]),
  ...Object.entries(engineKnobs)
    .filter(([name]) => !knobsOfTuning.includes(name))
    .map(([name, knob]) => [
      code(name),
      valuesOf(knob),
      '',
      modesText(({ engine }) => engine.includes(name)),
      knob.help,
    ]),
];

export const blocks: Blocks = {
  modes: () => [overview(), ...modes.map(sectionOf)].join('\n\n'),
  'bench-knobs': () =>
    [
      `MSM modes are ${msmModes.map(code).join(', ')}.`,
      table(['knob', 'values', 'default', 'modes', 'meaning'], benchKnobs()),
    ].join('\n\n'),
};
