/**
 * Blocks from declarations and their docstrings: `options` of functions and methods, with the values
 * and defaults of the tables by which the library reads them; `errors`, the codes of `MsmError`; and
 * `knobs`, the fields of `tuning` with ranges and defaults of the planner.
 */
import { knobOfTuning } from '../../../dev/bench/settings.js';
import type { Tuning } from '../../../src/api/device.js';
import { calibrateOptions } from '../../../src/calibrate/calibrate-options.js';
import { checkOptions, circuitProveOptions } from '../../../src/circom/circuit.js';
import { circuitOptions } from '../../../src/circom/open-circuit.js';
import {
  engineOptions,
  loadBasesOptions,
  loadScalarsOptions,
  msmBatchOptions,
  msmOptions,
  queueLimitOptions,
  sharingOptions,
} from '../../../src/engine/options.js';
import { provingKeyOptions } from '../../../src/groth16/open-proving-key.js';
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
import { type AnyRow, type AnyTable, ruleOf } from '../../../src/option-table.js';
import { proveOptions } from '../../../src/proofs/circuit-prover.js';
import { accelerateOptions } from '../../../src/provers/accelerate-options.js';
import { setupOptions } from '../../../src/setup/run.js';
import { type Member, membersOf, wordsOf } from '../declarations.js';
import { code, prose, table } from '../markdown.js';
import type { Blocks } from '../pages.js';

interface Section {
  readonly title: string;
  /** Further text before the table. */
  readonly text?: string;
  /** The table of the options; null where another section has it. */
  readonly table: AnyTable | null;
  /** The declarations of the options. */
  readonly of: readonly (readonly [path: string, name: string])[];
}

const turn = ['src/api/calls.ts', 'TurnOptions'] as const;

/** Returns the sentence about the options that a function passes on to its engines. */
const ofEngines = ({ rows }: AnyTable, own: readonly (readonly [path: string, name: string])[]): string => {
  const names = new Set(own.flatMap(([path, name]) => membersOf(path, name)).map(({ name }) => name));
  const passed = Object.keys(rows).filter((name) => !names.has(name));
  return `It also takes some options of [\`createMsmEngine\`](#createmsmengine) for its engines: ${passed.map(code).join(', ')}.`;
};

const ofAccelerate = [['src/provers/accelerate-options.ts', 'AccelerateOptions']] as const;
const ofKeys = [
  ['src/proofs/api.ts', 'ProvingKeyOptions'],
  ['src/groth16/api.ts', 'ProvingKeyOptions'],
] as const;

const ofCircuits = [['src/circom/api.ts', 'CircuitOptions']] as const;

const sections: readonly Section[] = [
  { title: 'createMsmEngine', table: engineOptions, of: [['src/engine/options.ts', 'MsmEngineOptions']] },
  {
    title: 'sharing',
    text: 'Fields of `sharing` of `createMsmEngine`.',
    table: sharingOptions,
    of: [['src/api/calls.ts', 'Sharing']],
  },
  {
    title: 'maxQueued',
    text: 'Fields of `maxQueued` of `createMsmEngine`.',
    table: queueLimitOptions,
    of: [['src/api/calls.ts', 'QueueLimits']],
  },
  { title: 'engine.loadBases', table: loadBasesOptions, of: [['src/api/calls.ts', 'LoadBasesOptions'], turn] },
  { title: 'engine.loadScalars', table: loadScalarsOptions, of: [['src/api/calls.ts', 'LoadScalarsOptions'], turn] },
  { title: 'engine.msm', table: msmOptions, of: [['src/api/calls.ts', 'MsmOptions'], turn] },
  { title: 'engine.msmBatch', table: msmBatchOptions, of: [['src/api/calls.ts', 'MsmBatchOptions'], turn] },
  {
    title: 'accelerate',
    text: `Module \`webgpu-msm/snarkjs\`. ${ofEngines(accelerateOptions, ofAccelerate)}`,
    table: accelerateOptions,
    of: ofAccelerate,
  },
  {
    title: 'openProvingKey',
    text: `Modules \`webgpu-msm/groth16\`, \`webgpu-msm/plonk\` and \`webgpu-msm/fflonk\`. ${ofEngines(provingKeyOptions, ofKeys)} \`maxQueued\` and \`onEvent\` are about its proofs, not about their sums.`,
    table: provingKeyOptions,
    of: ofKeys,
  },
  { title: 'key.prove', table: proveOptions, of: [['src/proofs/api.ts', 'ProveOptions'], turn] },
  {
    title: 'openCircuit',
    text: `Module \`webgpu-msm/circom\`. ${ofEngines(circuitOptions, ofCircuits)}`,
    table: circuitOptions,
    of: ofCircuits,
  },
  {
    title: 'circuit.prove',
    text: '`circuit.witness` has `signal` and `onLog`.',
    table: circuitProveOptions,
    of: [['src/circom/api.ts', 'CircuitProveOptions'], ['src/circom/api.ts', 'WitnessOptions'], turn],
  },
  { title: 'circuit.check', table: checkOptions, of: [['src/circom/api.ts', 'CheckOptions']] },
  {
    title: 'newKey, contribute, applyBeacon',
    text: 'Module `webgpu-msm/setup`, as of `newPowers`, `contributeToPowers`, `applyBeaconToPowers`, `preparePhase2`, `truncatePowers` and the functions of challenges. `verifyKey` and `verifyPowers` take them, too, without `sink`, `backend`, `device` and `gpu`; `exportVerificationKey` takes `signal` and `onWarning`.',
    table: setupOptions,
    of: [
      ['src/setup/run.ts', 'SetupOptions'],
      ['src/setup/run.ts', 'RunOptions'],
      ['src/setup/scaling.ts', 'GpuOptions'],
    ],
  },
  {
    title: 'nobleMsm',
    text: 'Module `webgpu-msm/noble`. It takes the options of [`createMsmEngine`](#createmsmengine), without `curve` and `group`.',
    table: null,
    of: [],
  },
  {
    title: 'calibrate',
    text: 'Module `webgpu-msm/calibrate`.',
    table: calibrateOptions,
    of: [['src/calibrate/calibrate-options.ts', 'CalibrateOptions']],
  },
];

/** Kinds whose rule says all that there is to say of a value; others are shown by their type. */
const told: readonly AnyRow['kind'][] = ['flag', 'integer', 'number', 'choice', 'share'];

/** Returns the values of an option: the rule of its row, or its type without undefined. */
const valuesOf = (row: AnyRow, type: string): string => {
  const own = type.replace(/ \| undefined$/, '');
  const shown = prose(code(own.replace(/^\((.*)\)$/, (whole, inner) => (inner.includes('=>') ? inner : whole))));
  // a type with a page of its own
  if (shown.startsWith('[')) return shown;
  if (row.kind === 'choice') return (row.range ?? []).map((word) => code(`'${word}'`)).join(', ');
  return told.includes(row.kind) ? ruleOf(row) : shown;
};

/**
 * Returns the default of an option.
 *
 * @throws Error if its docstring begins with another one than the table has
 */
const defaultOf = ({ default: used }: AnyRow, { name, type, isOptional, defaultValue }: Member): string => {
  if (!isOptional && !type.startsWith('(')) return 'required';
  const isPlain = used !== undefined && typeof used !== 'object' && used !== Number.POSITIVE_INFINITY;
  if (defaultValue === null) return isPlain ? code(String(used)) : 'none';
  if (isPlain && !defaultValue.startsWith(code(String(used))))
    throw new Error(`the default of ${name} is ${used}, and its docstring says ${defaultValue}`);
  return prose(defaultValue);
};

const sectionText = ({ title, text, table: options, of }: Section): string => {
  const lines = of
    .flatMap(([path, name]) => membersOf(path, name))
    .map((member) => {
      const row = options?.rows[member.name];
      if (row === undefined) throw new Error(`${title} reads no option ${member.name}`);
      return [
        code(member.name),
        valuesOf(row, member.type),
        defaultOf(row, member),
        prose(member.paragraphs.join(' ')),
      ];
    });
  const parts = [`## ${title}`, ...(text === undefined ? [] : [text])];
  return [...parts, ...(lines.length === 0 ? [] : [table(['option', 'values', 'default', 'meaning'], lines)])].join(
    '\n\n',
  );
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
const knobDefaultOf = ({ name, defaultValue }: Member, kind: keyof typeof adapters): string => {
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
    knobDefaultOf(knob, 'gpu'),
    knobDefaultOf(knob, 'software'),
    prose(meaningOf(knob)),
  ]);

export const blocks: Blocks = {
  options: () => sections.map(sectionText).join('\n\n'),
  errors: () => table(['code', 'meaning', 'remedy'], errorRows()),
  knobs: () =>
    table(['knob', 'in the bench', 'values', 'default on a GPU', 'default on software', 'meaning'], knobRows()),
};
