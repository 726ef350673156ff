/** `options`: the options of the functions and methods, from their declarations and docstrings. */
import type { Blocks } from '../blocks.js';
import { aliasOf, type Member, membersOf, stringsOf } from '../declarations.js';
import { code, prose, table } from '../markdown.js';

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
    text: `Modules \`webgpu-msm/groth16\`, \`webgpu-msm/plonk\` and \`webgpu-msm/fflonk\`. It also takes some options of [\`createMsmEngine\`](#createmsmengine) for its engines: ${stringsOf('src/proofs/circuit-prover.ts', 'ofEngines').map(code).join(', ')}. \`maxQueued\` and \`onEvent\` are about its proofs, not about their sums.`,
    of: [
      ['src/proofs/api.ts', 'ProvingKeyOptions'],
      ['src/groth16/api.ts', 'ProvingKeyOptions'],
    ],
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

export const blocks: Blocks = { options: () => sections.map(sectionText).join('\n\n') };
