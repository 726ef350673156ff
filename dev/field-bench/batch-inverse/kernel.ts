/** Batches of inversions that share one, at three scopes, as kernels of field-bench. */
import type { CarryMode } from '../../../src/field/carry.js';
import type { Modulus } from '../../../src/field/modulus.js';
import { fieldView } from '../../../src/field/wgsl.js';
import { type Kernel, kernel } from '../../../src/shaders/kernel.js';
import { renderShader } from '../../../src/shaders/partials.js';
import { ChainConfig } from '../kernels.js';
import columns from './columns.wgsl?raw';
import template from './kernel.wgsl?raw';
import subgroup from './subgroup.wgsl?raw';
import thread from './thread.wgsl?raw';
import tree from './tree.wgsl?raw';
import trick from './trick.wgsl?raw';

/** Who shares an inversion, and how. */
export type Scope = 'thread' | 'workgroup tree' | 'workgroup columns' | 'subgroup';

export interface BatchInversion {
  readonly scope: Scope;
  readonly carry: CarryMode;
  /** Numbers a thread. */
  readonly size: number;
  /** Threads a workgroup: a power of two. */
  readonly threads: number;
  /** Inversions of a workgroup that shares them in columns: a power of two, `threads` at most. */
  readonly roots: number;
}

/** What a device must have been requested with. */
export const featureOf = ({ scope }: BatchInversion): GPUFeatureName | null =>
  scope === 'subgroup' ? 'subgroups' : null;

const scopes: Readonly<Record<Scope, { template: string; builtins: Readonly<Record<string, string>> }>> = {
  thread: { template: thread, builtins: {} },
  'workgroup tree': { template: tree, builtins: { thread: 'local_invocation_index' } },
  'workgroup columns': { template: columns, builtins: { thread: 'local_invocation_index' } },
  subgroup: { template: subgroup, builtins: { lane: 'subgroup_invocation_id', size: 'subgroup_size' } },
};

/** Batches to measure. `lanes`: how many of a device compute in lockstep; only rates depend on it. */
export const batchInversions = (carry: CarryMode, lanes: number): BatchInversion[] => {
  const list = (scope: Scope, sizes: readonly number[], threads = 64, roots = 1): BatchInversion[] =>
    sizes.map((size) => ({ scope, carry, size, threads, roots }));
  return [
    ...list('thread', [1, 4, 8, 16, 32]),
    ...list('workgroup tree', [1, 4, 8], 16),
    ...list('workgroup tree', [1, 4, 8]),
    ...list('workgroup columns', [1, 4, 8, 16], 64, Math.min(64, lanes)),
    ...list('subgroup', [1, 4, 8]),
  ];
};

export const describeBatch = ({ scope, threads, roots }: BatchInversion): string => {
  switch (scope) {
    case 'thread':
    case 'subgroup':
      return scope;
    case 'workgroup tree':
      return `${scope} of ${threads}`;
    case 'workgroup columns':
      return `${scope}, ${threads} in ${roots}`;
  }
};

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/** Inverts canonical numbers in Montgomery form in place, `size` a thread. */
export const batchKernel = (m: Modulus, batch: BatchInversion): Kernel => {
  const { scope, carry, size, threads, roots } = batch;
  if (!isPowerOfTwo(threads) || !isPowerOfTwo(roots) || roots > threads)
    throw new Error(`${threads} threads, ${roots} roots: not powers of two, or more roots than threads`);
  const { template: own, builtins } = scopes[scope];
  const view = { ...fieldView(m, carry), size, threads, roots };
  return kernel(
    'batch_inverse',
    template,
    [
      { name: 'config', access: 'uniform', type: 'ChainConfig' },
      { name: 'values', access: 'write', type: 'array<Packed>' },
    ],
    {
      enable: featureOf(batch) === null ? '' : `enable ${featureOf(batch)};`,
      declarations: renderShader(`{{> field}}{{> inverse}}${trick}${own}`, view),
      structs: ChainConfig.wgsl,
      threads,
      builtins: Object.entries(builtins)
        .map(([name, builtin]) => `  @builtin(${builtin}) ${name}: u32,`)
        .join('\n'),
      arguments: Object.keys(builtins)
        .map((name) => `, ${name}`)
        .join(''),
    },
  );
};
