/**
 * Blocks from declarations and their docstrings: `options` of functions and methods, `errors`, the
 * codes of `MsmError`, and `knobs`, the fields of `tuning` with ranges and defaults of the planner.
 */
import { knobOfTuning } from '../../../dev/bench/settings.js';
import type { Tuning } from '../../../src/api/device.js';
import {
  type ClassKnobs,
  deviceClassOf,
  gpuKnobs,
  productFor,
  softwareKnobs,
  wideKnobs,
} from '../../../src/msm/plan/device-profiles.js';
import {
  deviceDefaults,
  SUBMIT_MS,
  tuningChoices,
  tuningRanges,
  UNMEASURED_BOUND,
  UNMEASURED_WIDE_BOUND,
} from '../../../src/msm/plan/tuning.js';
import { aliasOf, type Member, membersOf, stringsOf, wordsOf } from '../declarations.js';
import { code, prose, table } from '../markdown.js';
import type { Blocks } from '../pages.js';

interface Section {
  readonly title: string;
  /** Further text before the table. */
  readonly text?: string;
  readonly of: readonly (readonly [path: string, name: string])[];
}

const turn = ['src/api/calls.ts', 'TurnOptions'] as const;

const sections: readonly Section[] = [
  { title: 'createMsmEngine', of: [['src/engine/options.ts', 'MsmEngineOptions']] },
  { title: 'sharing', text: 'Fields of `sharing` of `createMsmEngine`.', of: [['src/api/calls.ts', 'Sharing']] },
  {
    title: 'maxQueued',
    text: 'Fields of `maxQueued` of `createMsmEngine`.',
    of: [['src/api/calls.ts', 'QueueLimits']],
  },
  { title: 'engine.loadBases', of: [['src/api/calls.ts', 'LoadBasesOptions'], turn] },
  { title: 'engine.loadScalars', of: [['src/api/calls.ts', 'LoadScalarsOptions'], turn] },
  { title: 'engine.msm', of: [['src/api/calls.ts', 'MsmOptions'], turn] },
  { title: 'engine.msmBatch', of: [['src/api/calls.ts', 'MsmBatchOptions'], turn] },
  {
    title: 'accelerate',
    text: `Module \`webgpu-msm/snarkjs\`. It also takes some options of [\`createMsmEngine\`](#createmsmengine) for its engines: ${stringsOf('src/provers/accelerate-options.ts', 'ofEngines').map(code).join(', ')}.`,
    of: [['src/provers/accelerate-options.ts', 'AccelerateOptions']],
  },
  {
    title: 'openProvingKey',
    text: `Modules \`webgpu-msm/groth16\`, \`webgpu-msm/plonk\` and \`webgpu-msm/fflonk\`. It also takes some options of [\`createMsmEngine\`](#createmsmengine) for its engines: ${stringsOf('src/proofs/api.ts', 'ofEngines').map(code).join(', ')}. ${stringsOf('src/proofs/api.ts', 'ofProofs').map(code).join(' and ')} are about its proofs, not about their sums.`,
    of: [['src/groth16/api.ts', 'ProvingKeyOptions']],
  },
  { title: 'key.prove', of: [['src/proofs/api.ts', 'ProveOptions'], turn] },
  {
    title: 'nobleMsm',
    text: 'Module `webgpu-msm/noble`. It takes the options of [`createMsmEngine`](#createmsmengine), without `curve` and `group`.',
    of: [],
  },
  {
    title: 'calibrate',
    text: 'Module `webgpu-msm/calibrate`.',
    of: [['src/calibrate.ts', 'CalibrateOptions']],
  },
];

/**
 * Returns a type as the table shows it: a short union of strings in place of its name, and without
 * undefined, which every optional option takes.
 */
const typeOf = (type: string): string => {
  const given = type
    .replace(/ \| undefined$/, '')
    .replace(/^\((.*)\)$/, (whole, inner) => (inner.includes('=>') ? inner : whole));
  return given === 'Priority' ? aliasOf('src/api/calls.ts', given) : given;
};

const row = ({ name, type, isOptional, defaultValue, paragraphs }: Member): string[] => [
  code(name),
  prose(code(typeOf(type))),
  isOptional || type.startsWith('(') ? prose(defaultValue ?? 'none') : 'required',
  prose(paragraphs.join(' ')),
];

const sectionText = ({ title, text, of }: Section): string => {
  const members = of.flatMap(([path, name]) => membersOf(path, name));
  const parts = [`## ${title}`, ...(text === undefined ? [] : [text])];
  return [
    ...parts,
    ...(members.length === 0 ? [] : [table(['option', 'type', 'default', 'meaning'], members.map(row))]),
  ].join('\n\n');
};

const REMEDY = 'Remedy: ';

const errorRows = () =>
  wordsOf('src/errors.ts', 'MsmErrorCode').map(({ word, paragraphs }) => {
    const remedy = paragraphs.at(-1) ?? '';
    if (paragraphs.length < 2 || !remedy.startsWith(REMEDY))
      throw new Error(`src/errors.ts: the docstring of '${word}' must end with a paragraph "${REMEDY}…"`);
    const [first = '', ...more] = remedy.slice(REMEDY.length);
    return [code(word), paragraphs.slice(0, -1).join(' '), first.toUpperCase() + more.join('')];
  });

/** Returns a number as powers of two are written: `2^17` from 1024 on. */
const numberOf = (value: number): string =>
  value >= 1024 && Number.isInteger(Math.log2(value)) ? `2^${Math.log2(value)}` : String(value);

const rangeOf = (name: string): string => {
  if (Object.hasOwn(tuningChoices, name))
    return tuningChoices[name as keyof typeof tuningChoices].map((word) => code(`'${word}'`)).join(', ');
  const [least, most] = tuningRanges[name as keyof typeof tuningRanges];
  return `${numberOf(least)} to ${numberOf(most)}`;
};

const defaultsOf = (knobs: ClassKnobs): Partial<Tuning> =>
  deviceDefaults({
    knobs,
    product: 'unsigned',
    additionsPerMs: null,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupSizeX: 256,
    maxComputeWorkgroupStorageSize: 2 ** 14,
  });

const show = (value: unknown): string => {
  if (typeof value === 'number') return numberOf(value);
  return code(typeof value === 'string' ? `'${value}'` : String(value));
};

/** Adapters whose products show which defaults there are, as WebGPU names them. */
const adapters = {
  gpu: [
    ...['nvidia ampere', 'nvidia maxwell', 'amd rdna-3', 'amd gcn-5', 'apple metal-3', 'qualcomm adreno-7xx'],
    ...['qualcomm adreno-6xx', 'arm valhall', 'intel xe', 'unknown'],
  ],
  software: ['google swiftshader', 'mesa llvmpipe'],
} as const;

/** Returns the products of some adapters, each once. */
const productsOf = (kind: keyof typeof adapters): string => {
  const products = adapters[kind].map((name) => {
    const [vendor = '', architecture = ''] = name.split(' ');
    const adapter = { vendor, architecture, software: kind === 'software' };
    if ((deviceClassOf(adapter).trust === 'software') !== (kind === 'software'))
      throw new Error(`${name} is no ${kind}`);
    return productFor(adapter, true);
  });
  return `by the adapter: ${[...new Set(products)].map(show).join(' or ')}`;
};

/** Returns the default of a knob for a class of devices. */
const defaultOf = ({ name, defaultValue }: Member, kind: keyof typeof adapters): string => {
  if (defaultValue !== null) return prose(defaultValue);
  if (name === 'fieldProduct') return productsOf(kind);
  const knobs = kind === 'gpu' ? gpuKnobs : softwareKnobs;
  if (name === 'additionsPerSubmit' && knobs.additionsPerSubmit === null)
    return `${numberOf(UNMEASURED_BOUND)}, on NVIDIA and AMD ${numberOf(UNMEASURED_WIDE_BOUND)}, and once measured those of ${SUBMIT_MS} ms`;
  const [usual, wide] = [knobs, kind === 'gpu' ? wideKnobs : knobs].map((each) =>
    show(defaultsOf(each)[name as keyof Tuning]),
  ) as [string, string];
  return usual === wide ? usual : `${usual}, on NVIDIA and AMD ${wide}`;
};

/**
 * Returns the meaning of a knob without its range, which has a column.
 *
 * @throws Error if the docstring has another range than the code
 */
const meaningOf = ({ name, paragraphs }: Member): string => {
  const text = paragraphs.join(' ');
  if (Object.hasOwn(tuningChoices, name)) return text;
  const range = `, ${rangeOf(name)}`;
  if (!text.includes(range)) throw new Error(`the docstring of tuning.${name} must have its range "${range}"`);
  return text.replace(range, '');
};

const knobRows = (): string[][] =>
  membersOf('src/api/device.ts', 'Tuning').map((knob) => [
    code(knob.name),
    code(knobOfTuning(knob.name) ?? ''),
    knob.type.endsWith('| null') ? `${rangeOf(knob.name)}, \`null\`` : rangeOf(knob.name),
    defaultOf(knob, 'gpu'),
    defaultOf(knob, 'software'),
    prose(meaningOf(knob)),
  ]);

export const blocks: Blocks = {
  options: () => sections.map(sectionText).join('\n\n'),
  errors: () => table(['code', 'meaning', 'remedy'], errorRows()),
  knobs: () =>
    table(['knob', 'in the bench', 'values', 'default on a GPU', 'default on software', 'meaning'], knobRows()),
};
