/** Batches of inversions that share one, in a thread or in a workgroup, as kernels of field-bench. */
import type { CarryMode } from '../../../src/field/carry.js';
import type { Modulus } from '../../../src/field/modulus.js';
import { fieldView } from '../../../src/field/wgsl.js';
import { type Kernel, kernel } from '../../../src/shaders/kernel.js';
import { renderShader } from '../../../src/shaders/partials.js';
import { ChainConfig } from '../kernels.js';
import columns from './columns.wgsl?raw';
import template from './kernel.wgsl?raw';
import trick from './trick.wgsl?raw';

/** Who shares an inversion. */
export type Scope = 'thread' | 'workgroup columns';

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

/** A thread shares its inversion with nobody. */
const alone = 'fn shared_inverse(own: Tight, thread: u32) -> Tight { return field_inverse(own); }';

/** Batches to measure. `lanes`: how many of a device compute in lockstep; only rates depend on it. */
export const batchInversions = (carry: CarryMode, lanes: number): BatchInversion[] => [
  ...[1, 4, 8, 16, 32].map((size) => ({ scope: 'thread' as const, carry, size, threads: 64, roots: 1 })),
  ...[1, 4, 8, 16].map((size) => ({
    ...{ scope: 'workgroup columns' as const, carry, size, threads: 64 },
    roots: Math.min(64, lanes),
  })),
];

export const describeBatch = ({ scope, threads, roots }: BatchInversion): string =>
  scope === 'thread' ? scope : `${scope}, ${threads} in ${roots}`;

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/** Inverts canonical numbers in Montgomery form in place, `size` a thread. */
export const batchKernel = (m: Modulus, batch: BatchInversion): Kernel => {
  const { scope, carry, size, threads, roots } = batch;
  if (!isPowerOfTwo(threads) || !isPowerOfTwo(roots) || roots > threads)
    throw new Error(`${threads} threads, ${roots} roots: not powers of two, or more roots than threads`);
  const view = { ...fieldView(m, carry), size, threads, roots };
  return kernel(
    'batch_inverse',
    template,
    [
      { name: 'config', access: 'uniform', type: 'ChainConfig' },
      { name: 'values', access: 'write', type: 'array<Packed>' },
    ],
    {
      declarations: renderShader(`{{> field}}{{> inverse}}${trick}${scope === 'thread' ? alone : columns}`, view),
      structs: ChainConfig.wgsl,
      threads,
    },
  );
};
