import template from '../../wgsl/decompose.wgsl?raw';
import type { CurveContext } from '../curves/curve.js';
import { digitsOf } from '../field/modulus.js';
import { type Kernel, kernel } from '../gpu/kernel.js';
import { struct } from '../gpu/struct.js';
import { entryWgsl } from './entry.js';

export const DecomposeConfig = struct('DecomposeConfig', {
  scalars: 'n',
  window_bits: 'c',
  first_window: 'the first window of the group',
  windows: 'windows of the group',
  first_base: 'index of the base that scalar 0 multiplies',
});

export const DECOMPOSE_THREADS = 64;

/** The multiples 2^k·r that bring any value of the scalar's storage below r, largest first. */
export const reductionMultiples = (curve: CurveContext): bigint[] => {
  const limit = 1n << BigInt(8 * curve.scalarBytes);
  const multiples: bigint[] = [];
  for (let multiple = curve.order; multiple < limit; multiple *= 2n) multiples.unshift(multiple);
  return multiples;
};

export const decomposeKernel = (curve: CurveContext): Kernel => {
  const scalarWords = curve.scalarBytes / 4;
  const multiples = reductionMultiples(curve);
  return kernel(
    'decompose',
    template,
    [
      { name: 'config', access: 'uniform', type: 'DecomposeConfig' },
      { name: 'scalars', access: 'read', type: 'array<u32>' },
      { name: 'entries', access: 'write', type: 'array<Entry>' },
    ],
    {
      structs: DecomposeConfig.wgsl,
      entry: entryWgsl,
      threads: DECOMPOSE_THREADS,
      scalarWords,
      scalarStorageBits: 32 * scalarWords,
      reductionLimit: 2 ** multiples.length,
      reductions: multiples.map((multiple, i) => ({
        k: multiples.length - 1 - i,
        words: digitsOf(multiple, 32, scalarWords).map((value, w) => ({ w, value })),
      })),
    },
  );
};
