import type { CurveContext } from '../../src/curves/curve.js';
import { Vector } from '../../src/msm/stages/decompose.js';
import { entryWgsl, levelWgsl } from '../../src/msm/stages/entry.js';
import { extendedPartials } from '../../src/msm/stages/walk-xyzz.js';
import { stageKernel } from '../../src/shaders/hash-chain.js';
import { type Binding, type Kernel, type KernelPart, kernel } from '../../src/shaders/kernel.js';
import template from './check.wgsl?template';
import { reporting } from './findings.js';
import watchTemplate from './watch.wgsl?template';

/**
 * The kernels of the checks: one fills buffers, each of the others looks at the output of one
 * stage.
 */
export type CheckName = 'poison' | 'sorted' | 'stream' | 'partials' | 'sums';
export type CheckKernels = Readonly<Record<CheckName, Kernel>>;

const documented = {
  level: 'index of the walk whose stream, carries or sums these are',
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
/**
 * Fills buffers before they are written. It is no key, no point reference and no coordinate below
 * p.
 */
const POISON = 0xffffffff;

const writers: Binding = { name: 'writers', access: 'write', type: 'array<atomic<u32>>' };

const read = (name: string, type: string): Binding => ({ name, access: 'read', type: `array<${type}>` });

/** @param sum WGSL type of a sum of a walk */
const bindingsOf = (sum: 'Point' | 'Extended'): Readonly<Record<CheckName, readonly Binding[]>> => ({
  poison: [{ name: 'words', access: 'write', type: 'array<u32>' }],
  sorted: [read('vectors', 'Vector'), read('totals', 'u32'), read('digits', 'Entry'), read('stream', 'Entry')],
  stream: [read('levels', 'Level'), read('stream', 'Entry'), writers],
  partials: [read('levels', 'Level'), read('carries', 'Entry'), read('partials', sum)],
  // `sums` may be a part of the buffer of the findings, and WebGPU refuses a pass that binds one
  // buffer for both reading and writing
  sums: [{ name: 'sums', access: 'write', type: `array<${sum}>` }, writers],
});
const names = Object.keys(bindingsOf('Point')) as CheckName[];

const kernelOf = (curve: CurveContext, name: CheckName, isExtended: boolean): Kernel => {
  const bindings = bindingsOf(isExtended ? 'Extended' : 'Point')[name];
  const view = {
    ...curve.coordinates.view(),
    aLimbs: curve.coordinates.literal(curve.a),
    bLimbs: curve.coordinates.literal(curve.b),
    structs: Vector.wgsl,
    entry: entryWgsl,
    level: levelWgsl,
    ...reporting.view,
    ...Object.fromEntries(names.map((each) => [each, each === name])),
    threads: CHECK_THREADS,
    poisonWord: POISON,
    reports: name !== 'poison',
    needsPoints: name === 'partials' || name === 'sums',
    isExtended,
  };
  const partials = { ...curve.coordinates.partials, ...extendedPartials, ...reporting.partials };
  // the poison reports nothing, so it needs no link in the dispatch chain
  return name === 'poison'
    ? kernel('check_poison', template, bindings, view, partials)
    : stageKernel(`check_${name}`, template, { name: 'CheckConfig', fields, documented }, bindings, view, partials);
};

const made = { affine: new WeakMap<CurveContext, CheckKernels>(), xyzz: new WeakMap<CurveContext, CheckKernels>() };

/**
 * Returns the kernels of the checks on a curve, each rendered once.
 *
 * @param coordinates those of the walk's sums
 */
export const checkKernels = (curve: CurveContext, coordinates: keyof typeof made): CheckKernels => {
  const kernels =
    made[coordinates].get(curve) ??
    (Object.fromEntries(
      names.map((name) => [name, kernelOf(curve, name, coordinates === 'xyzz')]),
    ) as unknown as CheckKernels);
  made[coordinates].set(curve, kernels);
  return kernels;
};

/** Makes a walk count the entries that it takes in, and note the writer of every sum. */
export const watch: KernelPart = {
  bindings: [writers],
  view: reporting.view,
  partials: { ...reporting.partials, watch: watchTemplate },
};
