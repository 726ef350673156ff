import template from '../../../wgsl/msm/reduce.wgsl?template';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { entryWgsl } from './entry.js';

/** Config of the stage that lays out the streams of the reduction. */
export const ReduceConfig = struct('ReduceConfig', {
  high_bits: 'h: high bits of a bucket index',
  low_bits: 'q: low bits; h + q = c - 1',
  split_entries: 'length of the first stream',
  bits_entries: 'length of the second stream',
  entries_account: 'account of the digest of the entries, in lanes',
});

export const REDUCE_THREADS = 64;

/**
 * Shapes of the two walks that compute W = Σ k·B_k of every window, the last step of the bucket
 * method. All runs of a walk have the same length, so that no slot waits for another.
 */
export interface ReduceShape {
  readonly highBits: number;
  readonly lowBits: number;
  /** Tasks, and sums, of the first walk: one for every H_v and every part of an L_u. */
  readonly splitTasks: number;
  readonly splitEntries: number;
  /** Tasks, and sums, of the second walk: c for each window. */
  readonly bitsTasks: number;
  readonly bitsEntries: number;
}

export const reduceShape = (windowBits: number, windows: number): ReduceShape => {
  const lowBits = (windowBits - 1) >> 1;
  const highBits = windowBits - 1 - lowBits;
  const splitTasks = windows * 2 * 2 ** highBits;
  const bitsTasks = windows * windowBits;
  return {
    highBits,
    lowBits,
    splitTasks,
    splitEntries: splitTasks * 2 ** lowBits,
    bitsTasks,
    bitsEntries: bitsTasks * 2 ** (highBits - 1),
  };
};

/**
 * Returns the exponents of a sum: sum number `sum` of a window in the second walk has the weight Σ
 * 2^exponent.
 */
export const bitsExponents = (
  windowBits: number,
  { highBits, lowBits }: ReduceShape,
  sum: number,
): readonly number[] => {
  // k = v·2^q + u + 1 adds every bucket once more: those whose v has its top bit set, and in the
  // last sum the others
  if (sum === highBits - 1) return [lowBits + sum, 0];
  if (sum === windowBits - 1) return [0];
  return [sum < highBits ? lowBits + sum : sum - highBits];
};

export const reduceKernel = (): Kernel =>
  stageKernel(
    'reduce',
    template,
    ReduceConfig,
    [
      { name: 'split', access: 'write', type: 'array<Entry>' },
      { name: 'bits', access: 'write', type: 'array<Entry>' },
    ],
    { entry: entryWgsl, threads: REDUCE_THREADS },
  );
