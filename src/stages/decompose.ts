import template from '../../wgsl/decompose.wgsl?raw';
import type { CurveContext } from '../curves/curve.js';
import { digitsOf } from '../field/modulus.js';
import { type Kernel, kernel } from '../shaders/kernel.js';
import { struct } from '../shaders/struct.js';
import { entryWgsl } from './entry.js';

export const DecomposeConfig = struct('DecomposeConfig', {
  scalars: 'n: of the longest vector',
  window_bits: 'c',
  pieces: 'of a scalar, one for each table that is used',
  piece_bits: 'bits of a piece',
  tables: 'points that there are of each base',
  vector_windows: 'T: windows of a vector',
  first_window: 'the first slab of the group',
  windows: 'slabs of the group',
});

export const Vector = struct('Vector', {
  length: 'scalars that it has',
  first_base: 'index of the base that it begins at',
  first_pick:
    'where in `picks` it says how far behind that the base of each scalar is; IN_A_ROW: as far as the scalar is',
});

/** `first_pick` of a vector that has all its bases. */
export const IN_A_ROW = 0xffffffff;

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
  const wordsOf = (value: bigint) => digitsOf(value, 32, scalarWords).map((word, w) => ({ w, value: word }));
  return kernel(
    'decompose',
    template,
    [
      { name: 'config', access: 'uniform', type: 'DecomposeConfig' },
      { name: 'vectors', access: 'read', type: 'array<Vector>' },
      { name: 'picks', access: 'read', type: 'array<u32>' },
      { name: 'scalars', access: 'read', type: 'array<u32>' },
      { name: 'entries', access: 'write', type: 'array<Entry>' },
    ],
    {
      structs: `${DecomposeConfig.wgsl}\n${Vector.wgsl}`,
      entry: entryWgsl,
      threads: DECOMPOSE_THREADS,
      inARow: IN_A_ROW,
      scalarWords,
      scalarStorageBits: 32 * scalarWords,
      reductionLimit: 2 ** multiples.length,
      folds: curve.foldsScalars,
      orderWords: wordsOf(curve.order),
      reductions: multiples.map((multiple, i) => ({
        k: multiples.length - 1 - i,
        words: wordsOf(multiple),
      })),
    },
  );
};
