/** `knobs`: the fields of `tuning`, with ranges and defaults from the planner. */
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
import type { Blocks } from '../blocks.js';
import { type Member, membersOf } from '../declarations.js';
import { code, prose, table } from '../markdown.js';

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

const rows = (): string[][] =>
  membersOf('src/api/device.ts', 'Tuning').map((knob) => [
    code(knob.name),
    code(knobOfTuning(knob.name) ?? ''),
    knob.type.endsWith('| null') ? `${rangeOf(knob.name)}, \`null\`` : rangeOf(knob.name),
    defaultOf(knob, 'gpu'),
    defaultOf(knob, 'software'),
    prose(meaningOf(knob)),
  ]);

export const blocks: Blocks = {
  knobs: () => table(['knob', 'in the bench', 'values', 'default on a GPU', 'default on software', 'meaning'], rows()),
};
