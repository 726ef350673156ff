/**
 * Settings: sets of engine knobs as a URL names them. A setting never changes a result, only its
 * cost.
 */
import type { Tuning } from '../../src/api/device.js';
import type { Group } from '../../src/curves/more-curves.js';
import { engineOptions, loadBasesOptions, type MsmEngineOptions } from '../../src/engine/options.js';
import { tuningChoices, tuningRanges } from '../../src/msm/plan/tuning.js';
import { parseGroup, parseInteger } from '../cases/address.js';

/** Options of an engine, as the knobs ask for. */
export interface Setting {
  /**
   * The knobs that are set, as in the URL: `walkerpriv=1, walkertpb=64`; `defaults` if there are
   * none.
   */
  readonly name: string;
  readonly tuning: Partial<Tuning>;
  /** Multiples of each point that the bases hold. */
  readonly precompute: number;
  /** Largest scratch in bytes; null for the library's default. */
  readonly memoryBudget: number | null;
  readonly verify: boolean;
  /** True to check the output of every stage on the GPU (dev/checks). */
  readonly checks: boolean;
  /** Backend; null for the library's default on a device that it was given. */
  readonly backend: Backend | null;
  /** Largest number of workers of the CPU; null for the library's default. */
  readonly workers: number | null;
  /** Folder whose dist/ holds the library; null for the sources of this bench. */
  readonly build: string | null;
  /** Group of this side of a comparison; null for the group of the cases. */
  readonly group: Group | null;
}

export type Backend = NonNullable<MsmEngineOptions['backend']>;

/** A knob with integer values of a range, or with words, each mapped to the library's value. */
export type EngineKnob = { readonly label: string; readonly help: string } & (
  | { readonly range: readonly [least: number, most: number] }
  | { readonly words: Choices }
);

type Choices = Readonly<Record<string, string | boolean>>;

/** Returns the words of an option that go through as they are. */
const wordsOf = (range: readonly string[]): Choices => Object.fromEntries(range.map((word) => [word, word]));

/**
 * Every knob of `Tuning`: name in the URL, label, help, and its words unless it is an integer. A
 * missing one fails to compile.
 */
const tuningTexts: Readonly<Record<keyof Tuning, readonly [name: string, label: string, help: string, Choices?]>> = {
  walkerCoordinates: [
    'walkercoords',
    'Walker coordinates',
    'Coordinates of the walker’s sums: affine, whose additions share inversions, or extended (xyzz), which need none.',
    wordsOf(tuningChoices.walkerCoordinates),
  ],
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
  walkerTasks: ['walkertasks', 'Walker tasks', 'Largest number of tasks of one walk.'],
  walkerEntriesPerTask: [
    'walkerentries',
    'Entries per task',
    'Fewest points to add per task: limits the number of tasks.',
  ],
  walkerLeastThreads: [
    'walkerleast',
    'Least walker threads',
    'Fewest threads of a walk: a walk of few tasks fills fewer slots a thread instead.',
  ],
  combineBits: ['combinebits', 'Combine bits', 'Each walk over partial sums halves their number so many times.'],
  windowBits: ['c', 'Window bits', 'Bits of a scalar window: wider windows need fewer additions and more buckets.'],
  sortThreadsPerWorkgroup: ['sorttpb', 'Sort threads', 'Threads in a workgroup of the sort.'],
  sortEntriesPerThread: ['sortentries', 'Sort entries', 'Entries that one thread of the sort ranks in sequence.'],
  additionsPerSubmit: [
    'submitadds',
    'Additions per submit',
    'Largest number of additions of one submit: limits how long a submit holds the GPU.',
  ],
  cpuBelow: [
    'cpubelow',
    'Small MSMs on the CPU',
    'MSMs of at most this many scalars run on the CPU. Default 0 here, as this bench is about the GPU; the library has a default of its own.',
  ],
  cpuDistribution: [
    'cpudist',
    'Distribution to threads',
    'How the CPU distributes work to threads: a thread that is done draws the next chunk (dynamic), or all get equal shares (static).',
    wordsOf(tuningChoices.cpuDistribution),
  ],
  cpuChunk: [
    'cpuchunk',
    'Rows per chunk',
    'Rows of 64 buckets that a thread draws at once; 0: by the size of the problem.',
  ],
  cpuArithmetic: [
    'cpuarithmetic',
    'Arithmetic of the CPU',
    'Arithmetic of the CPU: the fastest that the platform has (auto), or one of its forms in WebAssembly, or BigInt.',
    wordsOf(tuningChoices.cpuArithmetic),
  ],
  fieldProduct: [
    'fieldproduct',
    'Products',
    'Kind of field products: unsigned limbs, bytes with dot4U8Packed (for chips that have the instruction), or floats with fma (for slow integer multiplications).',
    wordsOf(tuningChoices.fieldProduct),
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
    help: 'Keeps this many multiples of each point: fewer additions for more memory. Loading takes longer.',
    range: loadBasesOptions.rows.precompute.range,
  },
  budget: {
    label: 'Memory budget, MiB',
    help: 'Largest scratch of the engine; an MSM that needs more is split. Default: 256, or 512 on NVIDIA and AMD.',
    range: [1, 65_536],
  },
  verify: {
    label: 'Verify',
    help: 'Computes every result a second time in another way, and compares them. A difference is an error.',
    words: { '1': true, '0': false },
  },
  checks: {
    label: 'Checks',
    help: 'Checks the output of every stage on the GPU. Slow; a failing check names the stage. Not with a build.',
    words: { '1': true, '0': false },
  },
  backend: {
    label: 'Backend',
    help: 'Backend that computes: the GPU (the default here), the CPU, both at once, or what the library predicts to be fastest for each call.',
    words: wordsOf(engineOptions.rows.backend.range),
  },
  workers: {
    label: 'Workers',
    help: 'Largest number of worker threads of the CPU. Default: one less than the machine has.',
    range: engineOptions.rows.maxWorkers.range,
  },
} as const satisfies Readonly<Record<string, EngineKnob>>;

/** Knobs of the engine by their names in the URL, in the order of the form. */
export const engineKnobs: Readonly<Record<string, EngineKnob>> = {
  ...Object.fromEntries(Object.values(tuningKnobs).map((knob) => [knob.name, knob])),
  ...otherKnobs,
};

/** Returns whether a knob is a flag, which is on if given without a value. */
export const isFlag = (name: string): boolean => {
  const knob = engineKnobs[name];
  return knob !== undefined && 'words' in knob && Object.hasOwn(knob.words, '1');
};

/**
 * Returns the knob of a tuning key: `walkertpb` for `walkerThreadsPerWorkgroup`; null for anything
 * else.
 */
export const knobOfTuning = (key: string): string | null =>
  Object.hasOwn(tuningKnobs, key) ? tuningKnobs[key as keyof Tuning].name : null;

/**
 * Parses one value as the URL has it.
 *
 * @param said name of the knob in errors, which for one side of a comparison has a prefix
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

/** Knobs that the CPU alone uses; all other knobs of the engine are for a GPU. */
const cpuKnobs: readonly string[] = ['cpudist', 'cpuchunk', 'backend', 'workers', 'build', 'group'];

/** Returns whether a knob of the engine has no effect without a GPU. */
export const isGpuKnob = (name: string): boolean => !cpuKnobs.includes(name);

/**
 * Knobs of a setting: those of the form, and the folder of a build, which only programs can name.
 */
export const settingKnobs: readonly string[] = [...Object.keys(engineKnobs), 'build'];

/**
 * Knobs of one side of a comparison, which include a group of its own. Both sides then get the same
 * scalars, and points with the same logarithms.
 */
export const sideKnobs: readonly string[] = [...settingKnobs, 'group'];

/**
 * @param values texts by name of the knob, each valid for its knob; an empty text means the default
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
    memoryBudget: parsed.has('budget') ? 2 ** 20 * (parsed.get('budget') as number) : null,
    verify: (parsed.get('verify') as boolean | undefined) ?? false,
    checks,
    backend: (parsed.get('backend') as Backend | undefined) ?? null,
    workers: (parsed.get('workers') as number | undefined) ?? null,
    build,
    group: (parsed.get('group') as Group | undefined) ?? null,
  };
}

/** Returns a text for each knob that the device limited. */
export const clampedKnobs = (asked: Partial<Tuning>, used: Tuning): string[] =>
  (Object.keys(asked) as (keyof Tuning)[]).flatMap((key) =>
    asked[key] === undefined || asked[key] === used[key]
      ? []
      : [`${tuningKnobs[key].name}: ${asked[key]} asked, ${used[key]} used`],
  );

/** Returns a tuning as URL parameters, so that the result of `calibrate` can be linked to. */
export function tuningQuery(tuning: Partial<Tuning>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(tuning)) {
    const knob = tuningKnobs[key as keyof Tuning];
    const word = 'words' in knob ? Object.entries(knob.words).find(([, each]) => each === value)?.[0] : undefined;
    query.set(knob.name, word ?? String(value));
  }
  return query;
}
