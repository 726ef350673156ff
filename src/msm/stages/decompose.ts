import template from '../../../wgsl/msm/decompose.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { digitsOf } from '../../field/modulus.js';
import { mix, stageKernel, weight, weightedSum } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { entryWgsl } from './entry.js';

/**
 * Config of decompose, which recodes scalars to signed digits (signed-digit recoding; Booth 1951).
 */
export const DecomposeConfig = struct('DecomposeConfig', {
  scalars: 'n: scalars of the longest vector',
  window_bits: 'c: bits of a window',
  blocks: 'blocks of a scalar, one for each table that is used',
  block_bits: 'bits of a block',
  tables: 'resident multiples of each base',
  vector_windows: 'T: windows of a vector',
  first_window: 'the first window row of the group',
  windows: 'window rows of the group',
  scalars_account: 'account of the digest of the scalars, in lanes',
  entries_account: 'account of the digest of the entries, in lanes',
});

/** A vector of scalars in a batch. */
export const Vector = struct('Vector', {
  length: 'number of scalars',
  first_base: 'index of the base that its first scalar multiplies',
  first_pick: 'index in `picks` of the base offsets of its scalars; IN_A_ROW: scalar i multiplies base first_base + i',
});

/** Value of `first_pick` for a vector that multiplies consecutive bases. */
export const IN_A_ROW = 0xffffffff;

export const DECOMPOSE_THREADS = 64;

/** Place of some scalars in a batch, and the bases that they multiply. */
interface ScalarsPlace {
  /** Index of the vector in the batch. */
  readonly vector: number;
  /** Index of the first of the scalars in the vector. */
  readonly first: number;
  /**
   * Base of the first of the scalars, counted from the beginning of the binding; the others multiply
   * the bases that follow it.
   */
  readonly firstBase: number;
  /** Offsets of their bases from `firstBase`, if the bases are not consecutive. */
  readonly picks: Uint32Array | null;
}

/**
 * Returns the digest of scalars of a vector, with their indices and bases, which decompose has to
 * find as well.
 */
export const scalarsDigest = (
  scalars: Uint32Array,
  scalarWords: number,
  { vector, first, firstBase, picks }: ScalarsPlace,
): number => {
  const [ofVector, ofIndex, ofBase] = [weight(scalarWords), weight(scalarWords + 1), weight(scalarWords + 2)];
  const step = picks === null ? ofIndex + ofBase : ofIndex;
  // sum of the products of everything but the scalar and its pick
  let own = (Math.imul(vector, ofVector) + Math.imul(first, ofIndex) + Math.imul(firstBase, ofBase)) | 0;
  let digest = 0;
  for (let i = 0, at = 0; at < scalars.length; i++, at += scalarWords) {
    const ofPick = picks === null ? 0 : Math.imul(picks[i] as number, ofBase);
    digest = (digest + mix(own + ofPick + weightedSum(scalars, at, scalarWords))) | 0;
    own = (own + step) | 0;
  }
  return digest >>> 0;
};

/**
 * Returns the multiples 2^k·r whose subtraction brings any stored scalar below the order r, largest
 * first.
 */
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
  return stageKernel({
    name: 'decompose',
    template,
    config: DecomposeConfig,
    bindings: [
      { name: 'vectors', access: 'read', type: 'array<Vector>' },
      { name: 'picks', access: 'read', type: 'array<u32>' },
      { name: 'scalars', access: 'read', type: 'array<u32>' },
      { name: 'entries', access: 'write', type: 'array<Entry>' },
    ],
    view: {
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
  });
};
