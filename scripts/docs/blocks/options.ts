/**
 * `options`: the options of the functions and methods. Values and defaults are those of the tables by
 * which the library reads options; types and meanings are those of the declarations.
 */
import { calibrateOptions } from '../../../src/calibrate/calibrate-options.js';
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
import { type AnyRow, type AnyTable, ruleOf } from '../../../src/option-table.js';
import { proveOptions } from '../../../src/proofs/circuit-prover.js';
import { accelerateOptions } from '../../../src/provers/accelerate-options.js';
import type { Blocks } from '../blocks.js';
import { type Member, membersOf } from '../declarations.js';
import { code, prose, table } from '../markdown.js';

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
const ofKeys = [['src/groth16/api.ts', 'ProvingKeyOptions']] as const;

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

export const blocks: Blocks = { options: () => sections.map(sectionText).join('\n\n') };
