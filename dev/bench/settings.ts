/** The knobs of an engine as the URL has them, and what a set of them is: a setting. No setting changes a result, only what it costs. */

import type { Tuning } from '../../src/api/tuning.js';
import type { Group } from '../../src/curves/names.js';
import type { MsmEngineOptions } from '../../src/engine/options.js';
import { fieldProducts } from '../../src/field/modulus.js';
import { tuningRanges } from '../../src/msm/plan/check-tuning.js';
import { parseGroup, parseInteger } from '../cases/address.js';

/** An engine, as the knobs want it. */
export interface Setting {
  /** The knobs that are set, as in the URL: `walkerpriv=1, walkertpb=64`; `defaults` if none is. */
  readonly name: string;
  readonly tuning: Partial<Tuning>;
  /** Multiples of each point that are kept. */
  readonly precompute: number;
  /** Bytes. */
  readonly memoryBudget: number;
  readonly verify: boolean;
  /** The GPU checks every stage (dev/checks). */
  readonly checks: boolean;
  /** What computes; null: what the library takes for a device that it was given. */
  readonly backend: Backend | null;
  /** The most workers of the CPU; null: the library's default. */
  readonly workers: number | null;
  /** The folder in whose dist/ the library is built; null: the sources of this bench. */
  readonly build: string | null;
  /** The group that this side of a comparison computes in; null: that of the cases. */
  readonly group: Group | null;
}

export type Backend = NonNullable<MsmEngineOptions['backend']>;

/** A knob whose values are integers of a range, or words, each with what it means to the library. */
export type EngineKnob = { readonly label: string; readonly help: string } & (
  | { readonly range: readonly [least: number, most: number] }
  | { readonly words: Choices }
);

type Choices = Readonly<Record<string, string | boolean>>;

/** Every knob of `Tuning`: name in the URL, label, help, and its words if it is no integer; one that is missing does not compile. */
const tuningTexts: Readonly<Record<keyof Tuning, readonly [name: string, label: string, help: string, Choices?]>> = {
  walkerPrefixMemory: [
    'walkerpriv',
    'Walker scratch',
    'Where the walker keeps its prefix products: private (1) or workgroup memory (0).',
    { 1: 'private', 0: 'workgroup' },
  ],
  walkerThreadsPerWorkgroup: ['walkertpb', 'Walker threads', 'Threads in a workgroup of the walker.'],
  walkerSlots: [
    'walkers',
    'Walker slots',
    'Tasks that one walker thread advances together; they share each inversion.',
  ],
  walkerTasks: ['walkertasks', 'Walker tasks', 'The most tasks that one walk is cut into.'],
  walkerEntriesPerTask: [
    'walkerentries',
    'Entries a task',
    'No more tasks than give each of them so many points to add.',
  ],
  walkerLeastThreads: [
    'walkerleast',
    'Least walker threads',
    'A walk of few tasks fills fewer slots a thread rather than run on fewer threads than this.',
  ],
  windowBits: ['c', 'Window bits', 'Bits of a scalar window: wider ones take fewer additions and more buckets.'],
  sortThreadsPerWorkgroup: ['sorttpb', 'Sort threads', 'Threads in a workgroup of the sort.'],
  sortEntriesPerThread: ['sortentries', 'Sort entries', 'Entries that one thread of the sort ranks in sequence.'],
  additionsPerSubmit: [
    'submitadds',
    'Additions a submit',
    'The most additions of one submit: bounds how long it holds the GPU.',
  ],
  cpuBelow: [
    'cpubelow',
    'Small ones on the CPU',
    'MSMs of at most so many scalars go to the CPU. Default 0 here, as this bench is about the GPU; the library has a default of its own.',
  ],
  cpuDistribution: [
    'cpudist',
    'Chunks to threads',
    'How what the CPU computes gets to its threads: whoever is done draws the next chunk, or all have equal shares.',
    { dynamic: 'dynamic', static: 'static' },
  ],
  cpuChunk: [
    'cpuchunk',
    'Rows a chunk',
    'Rows of 64 buckets that a thread draws at a time; 0: by the size of the problem.',
  ],
  fieldProduct: [
    'fieldproduct',
    'Products',
    'How products are computed: of signed limbs, for devices that are slow at shifts, of unsigned ones, or of bytes by dot4U8Packed, for chips that have the instruction.',
    Object.fromEntries(fieldProducts.map((product) => [product, product])),
  ],
};

const tuningKnobs = Object.fromEntries(
  Object.entries(tuningTexts).map(([key, [name, label, help, words]]) => {
    const values = words ? { words } : { range: tuningRanges[key as keyof typeof tuningRanges] };
    return [key, { name, label, help, ...values }];
  }),
) as Readonly<Record<keyof Tuning, EngineKnob & { readonly name: string }>>;

const otherKnobs = {
  precompute: {
    label: 'Multiples kept',
    help: 'Keep so many multiples of each point: fewer additions for more memory. Loading takes longer.',
    range: [1, 64],
  },
  budget: {
    label: 'Memory budget, MiB',
    help: 'The most scratch that the engine may take; what needs more is done in parts. Default 256.',
    range: [1, 65_536],
  },
  verify: {
    label: 'Verify',
    help: 'Compute every result once more in another way, and compare. A wrong one is an error.',
    words: { '1': true, '0': false },
  },
  checks: {
    label: 'Checks',
    help: 'Check on the GPU after every stage what it left. Slow; a failing check names the stage. Not with a build.',
    words: { '1': true, '0': false },
  },
  backend: {
    label: 'Backend',
    help: 'What computes: the GPU (the default here), the CPU, both at the same time, or what the library finds fastest for each call.',
    words: { gpu: 'gpu', cpu: 'cpu', both: 'both', auto: 'auto' },
  },
  workers: {
    label: 'Workers',
    help: 'The most threads that help where the CPU computes. Default: one less than there are; 8 in cpu-pool.',
    range: [0, 1024],
  },
} as const satisfies Readonly<Record<string, EngineKnob>>;

/** By their names in the URL, in the order of the form. */
export const engineKnobs: Readonly<Record<string, EngineKnob>> = {
  ...Object.fromEntries(Object.values(tuningKnobs).map((knob) => [knob.name, knob])),
  ...otherKnobs,
};

const DEFAULT_BUDGET_MIB = 256;

/** Whether a knob is on or off: given without a value it is on. */
export const isFlag = (name: string): boolean => {
  const knob = engineKnobs[name];
  return knob !== undefined && 'words' in knob && Object.hasOwn(knob.words, '1');
};

/** The knob of what the library calls so, `walkertpb` of `walkerThreadsPerWorkgroup`; null of anything else. */
export const knobOfTuning = (key: string): string | null =>
  Object.hasOwn(tuningKnobs, key) ? tuningKnobs[key as keyof Tuning].name : null;

/**
 * One value as the URL has it.
 *
 * @param said the name that an error has: of one side of a comparison it is longer
 * @throws RangeError that names the knob
 */
export function parseEngineKnob(name: string, text: string, said = name): number | string | boolean {
  if (name === 'build') return text;
  if (name === 'group') return parseGroup(text, said);
  const knob = engineKnobs[name] as EngineKnob;
  if ('range' in knob) return parseInteger(said, text, ...knob.range);
  const word = Object.hasOwn(knob.words, text) ? knob.words[text] : undefined;
  if (word === undefined) throw new RangeError(`${said}: "${text}" is not ${Object.keys(knob.words).join(' or ')}`);
  return word;
}

/** Knobs that mean something where the CPU computes alone; all others of the engine are for a GPU. */
const cpuKnobs: readonly string[] = ['cpudist', 'cpuchunk', 'backend', 'workers', 'build', 'group'];

/** Whether a knob of the engine means nothing without a GPU. */
export const isGpuKnob = (name: string): boolean => !cpuKnobs.includes(name);

/** What a setting consists of: those that the form has, and the folder of a build, which only programs can name. */
export const settingKnobs: readonly string[] = [...Object.keys(engineKnobs), 'build'];

/** What one side of a comparison may have: also a group of its own. Both are then given the same scalars, and points with the same logarithms. */
export const sideKnobs: readonly string[] = [...settingKnobs, 'group'];

/**
 * @param values texts by the names of the knobs, each right for its knob; an empty one means the default
 * @throws RangeError that names the knob
 */
export function makeSetting(values: ReadonlyMap<string, string>): Setting {
  const set = sideKnobs.flatMap((name) => {
    const text = values.get(name);
    return text === undefined || text === '' ? [] : [[name, text, parseEngineKnob(name, text)] as const];
  });
  const parsed = new Map(set.map(([name, , value]) => [name, value]));
  const tuning = Object.fromEntries(
    Object.entries(tuningKnobs).flatMap(([key, { name }]) => (parsed.has(name) ? [[key, parsed.get(name)]] : [])),
  ) as Partial<Tuning>;
  const checks = (parsed.get('checks') as boolean | undefined) ?? false;
  const build = (parsed.get('build') as string | undefined) ?? null;
  if (checks && build !== null) {
    throw new RangeError('checks: a build has no checks, which belong to this bench; leave out checks or build');
  }
  return {
    name: set.length === 0 ? 'defaults' : set.map(([name, text]) => `${name}=${text}`).join(', '),
    tuning: parsed.has('backend') ? tuning : { cpuBelow: 0, ...tuning },
    precompute: (parsed.get('precompute') as number | undefined) ?? 1,
    memoryBudget: 2 ** 20 * ((parsed.get('budget') as number | undefined) ?? DEFAULT_BUDGET_MIB),
    verify: (parsed.get('verify') as boolean | undefined) ?? false,
    checks,
    backend: (parsed.get('backend') as Backend | undefined) ?? null,
    workers: (parsed.get('workers') as number | undefined) ?? null,
    build,
    group: (parsed.get('group') as Group | undefined) ?? null,
  };
}

/** Knobs of which a device had something else than was asked for, in words. */
export const clampedKnobs = (asked: Partial<Tuning>, used: Tuning): string[] =>
  (Object.keys(asked) as (keyof Tuning)[]).flatMap((key) =>
    asked[key] === undefined || asked[key] === used[key]
      ? []
      : [`${tuningKnobs[key].name}: ${asked[key]} asked, ${used[key]} used`],
  );

/** A tuning as the parameters of a URL: what `calibrate` found can be linked to. */
export function tuningQuery(tuning: Partial<Tuning>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(tuning)) {
    const knob = tuningKnobs[key as keyof Tuning];
    const word = 'words' in knob ? Object.entries(knob.words).find(([, each]) => each === value)?.[0] : undefined;
    query.set(knob.name, word ?? String(value));
  }
  return query;
}
