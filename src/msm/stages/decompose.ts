import template from '../../../wgsl/msm/decompose.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { digitsOf } from '../../field/modulus.js';
import { mix, stageKernel, weight } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { entryWgsl } from './entry.js';

export const DecomposeConfig = struct('DecomposeConfig', {
  scalars: 'n: of the longest vector',
  window_bits: 'c',
  blocks: 'of a scalar, one for each table that is used',
  block_bits: 'bits of a piece',
  tables: 'points that there are of each base',
  vector_windows: 'T: windows of a vector',
  first_window: 'the first slab of the group',
  windows: 'slabs of the group',
  scalars_account: 'where the digest of the scalars goes, in lanes',
  entries_account: 'where the digest of the entries goes, in lanes',
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

/**
 * What decompose is to find: the digest of the scalars of a vector, with their places and bases.
 *
 * @param vector its number in the part
 * @param first the index of the first of them in the vector
 * @param baseOf which base scalar i multiplies, counted from where the bases are bound
 */
export const scalarsDigest = (
  scalars: Uint32Array,
  scalarWords: number,
  vector: number,
  first: number,
  baseOf: (i: number) => number,
): number => {
  const weights = Int32Array.from({ length: scalarWords + 3 }, (_, w) => weight(w));
  const [ofVector, ofIndex, ofBase] = weights.subarray(scalarWords) as unknown as readonly [number, number, number];
  const start = Math.imul(vector, ofVector);
  let digest = 0;
  for (let i = first, at = 0; at < scalars.length; i++) {
    let sum = start + Math.imul(i, ofIndex) + Math.imul(baseOf(i), ofBase);
    for (let w = 0; w < scalarWords; w++) sum = (sum + Math.imul(scalars[at++] as number, weights[w] as number)) | 0;
    digest = (digest + mix(sum)) | 0;
  }
  return digest >>> 0;
};

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
  return stageKernel(
    'decompose',
    template,
    DecomposeConfig,
    [
      { name: 'vectors', access: 'read', type: 'array<Vector>' },
      { name: 'picks', access: 'read', type: 'array<u32>' },
      { name: 'scalars', access: 'read', type: 'array<u32>' },
      { name: 'entries', access: 'write', type: 'array<Entry>' },
    ],
    {
      structs: Vector.wgsl,
      entry: entryWgsl,
      threads: DECOMPOSE_THREADS,
      inARow: IN_A_ROW,
      scalarWords,
      scalarStorageBits: 32 * scalarWords,
      reductionLimit: 2 ** multiples.length,
      negates: curve.negatesScalars,
      orderWords: wordsOf(curve.order),
      reductions: multiples.map((multiple, i) => ({
        k: multiples.length - 1 - i,
        words: wordsOf(multiple),
      })),
    },
  );
};
