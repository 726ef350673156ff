import type { CheckKernel, CheckName, KernelPart } from '../msm/stages/checks.js';
import type { Binding } from '../shaders/kernel.js';
import template from './check.wgsl?template';
import { reporting } from './findings.js';
import watchTemplate from './watch.wgsl?template';

/** Words of the config of every check, and what they say. */
const documented = {
  level: 'index of the walk whose stream, places or sums these are',
  keys: 'keys are below this',
  last: '1 where the walk is the last of its stream, and leaves nothing to combine',
  row_length: 'entries that a window has room for',
  windows: 'windows of the group',
  first_window: 'the first window of the group',
  vector_windows: 'T: windows of a vector',
  buckets: 'B',
  blocks: 'of a scalar',
  tables: 'points that there are of each base',
};
const fields = Object.keys(documented) as (keyof typeof documented)[];

export type CheckConfig = Partial<Record<keyof typeof documented, number>>;
export const packConfig = (config: CheckConfig): Uint32Array => Uint32Array.from(fields, (name) => config[name] ?? 0);

export const CHECK_THREADS = 64;
/** No key, no handle of a point, no coordinate below p: what a buffer holds that nobody has written. */
const POISON = 0xffffffff;

const writers: Binding = { name: 'writers', access: 'write', type: 'array<atomic<u32>>' };

const read = (name: string, type: string): Binding => ({ name, access: 'read', type: `array<${type}>` });

const bindings: Readonly<Record<CheckName, readonly Binding[]>> = {
  poison: [{ name: 'words', access: 'write', type: 'array<u32>' }],
  sorted: [read('vectors', 'Vector'), read('totals', 'u32'), read('digits', 'Entry'), read('stream', 'Entry')],
  stream: [read('levels', 'Level'), read('stream', 'Entry'), writers],
  partials: [read('levels', 'Level'), read('carries', 'Entry'), read('partials', 'Point')],
  // it may be a part of the buffer that its findings are in, which no pass may bind for reading as well
  sums: [{ name: 'sums', access: 'write', type: 'array<Point>' }, writers],
};
const names = Object.keys(bindings) as CheckName[];

const kernelOf = (name: CheckName): CheckKernel => ({
  name: `check_${name}`,
  template,
  ...(name !== 'poison' && { config: { name: 'CheckConfig', fields, documented } }),
  bindings: bindings[name],
  view: {
    ...reporting.view,
    ...Object.fromEntries(names.map((each) => [each, each === name])),
    threads: CHECK_THREADS,
    poisonWord: POISON,
    reports: name !== 'poison',
    needsPoints: name === 'partials' || name === 'sums',
  },
  partials: reporting.partials,
});

export const kernels = Object.fromEntries(names.map((name) => [name, kernelOf(name)])) as Record<
  CheckName,
  CheckKernel
>;

/** Of a walk that counts the entries which it takes in, and the writers of every sum. */
export const watch: KernelPart = {
  bindings: [writers],
  view: reporting.view,
  partials: { ...reporting.partials, watch: watchTemplate },
};
