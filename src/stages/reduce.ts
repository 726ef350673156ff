import template from '../../wgsl/reduce.wgsl?raw';
import { type Kernel, kernel } from '../gpu/kernel.js';
import { struct } from '../gpu/struct.js';
import { entryWgsl } from './entry.js';

export const ReduceConfig = struct('ReduceConfig', {
  high_bits: 'h',
  low_bits: 'q; h + q = c - 1',
  split_entries: 'length of the first stream',
  bits_entries: 'length of the second stream',
  bits_run: 'entries of a run of the second stream',
});

export const REDUCE_THREADS = 64;

/** Shapes of the two walks of the reduction. */
export interface ReduceShape {
  readonly highBits: number;
  readonly lowBits: number;
  /** First walk: one task and one sum for every H_v and L_u. */
  readonly splitTasks: number;
  readonly splitEntries: number;
  /** Second walk: c tasks and sums a window. */
  readonly bitsTasks: number;
  readonly bitsRun: number;
  readonly bitsEntries: number;
}

export const reduceShape = (windowBits: number, windows: number): ReduceShape => {
  const lowBits = (windowBits - 1) >> 1;
  const highBits = windowBits - 1 - lowBits;
  const splitTasks = windows * (2 ** highBits + 2 ** lowBits);
  const bitsTasks = windows * windowBits;
  const bitsRun = Math.max(1, 2 ** highBits / 2, 2 ** lowBits);
  return {
    highBits,
    lowBits,
    splitTasks,
    splitEntries: splitTasks * 2 ** highBits,
    bitsTasks,
    bitsRun,
    bitsEntries: bitsTasks * bitsRun,
  };
};

/** Sum number `index` of the second walk counts 2^exponent times in the MSM. */
export const bitsExponent = (windowBits: number, { highBits, lowBits }: ReduceShape, index: number): number => {
  const window = Math.floor(index / windowBits);
  const sum = index % windowBits;
  const inWindow = sum < highBits ? lowBits + sum : sum < highBits + lowBits ? sum - highBits : 0;
  return window * windowBits + inWindow;
};

export const reduceKernel = (): Kernel =>
  kernel(
    'reduce',
    template,
    [
      { name: 'config', access: 'uniform', type: 'ReduceConfig' },
      { name: 'split', access: 'write', type: 'array<Entry>' },
      { name: 'bits', access: 'write', type: 'array<Entry>' },
    ],
    { structs: ReduceConfig.wgsl, entry: entryWgsl, threads: REDUCE_THREADS },
  );
