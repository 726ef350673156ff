/** Scalars modulo the group order: their field, and sums of their multiples. */

import { digitsOf, isBelow, readWords, writeWords } from '../field/modulus.js';
import { isPrime, oddPartOf, power } from '../field/powers.js';
import type { Curve, CurveContext, KnownCurve } from './curve.js';

/**
 * The ring of scalars of a curve: integers modulo the group order r. It is a field if r is prime.
 */
interface ScalarField {
  /** The group order r. */
  readonly order: bigint;
  /**
   * The largest k for which 2^k divides r − 1; 0 if r is not prime. The longest radix-2 NTT has 2^k
   * elements.
   */
  readonly twoAdicity: number;
  /** An element of multiplicative order 2^twoAdicity; null if r is not prime. */
  readonly rootOfUnity: bigint | null;
}

/**
 * Derives the scalar field of a curve. The root of unity is z^((r − 1) / 2^k) for a quadratic
 * non-residue z: an odd power of a non-residue is a non-residue, so its order is 2^k and no less. z
 * is `scalarGenerator`, or else the least one.
 */
export const scalarFieldOf = ({
  order,
  scalarGenerator,
}: Pick<Curve, 'order'> & Pick<KnownCurve, 'scalarGenerator'>): ScalarField => {
  if (order % 2n === 0n || !isPrime(order)) return { order, twoAdicity: 0, rootOfUnity: null };
  const { odd, twos: twoAdicity } = oddPartOf(order - 1n);
  let nonResidue = scalarGenerator ?? 2n;
  // Euler's criterion
  while (power(nonResidue, (order - 1n) / 2n, order) === 1n) nonResidue++;
  return { order, twoAdicity, rootOfUnity: power(nonResidue, odd, order) };
};

/*
 * Sums of multiples of scalars modulo the order, on words of 32 bits: BigInts would take longer
 * than the MSM on a GPU.
 */

const WORD = 2 ** 32;

/**
 * Upper end of the range of factors. Products of a smaller factor and a word, and sums of two, are
 * exact as doubles.
 */
export const FACTOR_END = 2 ** 20;

/**
 * Computes sums[i] ← (sums[i] + factor · (scalars[i] mod r)) mod r, and counts how often r is
 * subtracted.
 *
 * @param sums scalars below r, one for each of `scalars`, in little-endian words; updated in place
 * @param scalars scalars in [0, 2^256), in little-endian words
 * @param factor below `FACTOR_END`
 * @param wraps receives the number of subtractions of each sum, added in the same format; null: not
 * counted
 */
export const addMultiples = (
  { order, scalarBytes }: CurveContext,
  sums: Uint32Array,
  scalars: Uint32Array,
  factor: number,
  wraps: Uint32Array | null,
): void => {
  const words = scalarBytes / 4;
  const r = digitsOf(order, 32, words);
  const size = Number(order);
  const reduced = new Uint32Array(words);
  for (let at = 0; at < scalars.length; at += words) {
    let [source, from] = [scalars, at];
    if (!isBelow(scalars, at, r)) {
      writeWords(reduced, 0, words, readWords(scalars, at, words) % order);
      [source, from] = [reduced, 0];
    }
    let [scalar, sum] = [0, 0];
    for (let w = words - 1; w >= 0; w--) {
      scalar = scalar * WORD + (source[from + w] as number);
      sum = sum * WORD + (sums[at + w] as number);
    }
    if (scalar === 0) continue;
    /** @returns what is above the words of the sum */
    const add = (times: number, quotient: number): number => {
      let carry = 0;
      for (let w = 0; w < words; w++) {
        const word =
          times * (source[from + w] as number) + (sums[at + w] as number) - quotient * (r[w] as number) + carry;
        sums[at + w] = word;
        carry = Math.floor(word / WORD);
      }
      return carry;
    };
    // doubles are off by less than a millionth here: it is the quotient, or one less
    let quotient = Math.max(0, Math.floor((factor * scalar + sum) / size - 1e-6));
    if (add(factor, quotient) > 0 || !isBelow(sums, at, r)) {
      add(0, 1);
      quotient++;
    }
    if (wraps === null) continue;
    const low = (wraps[at] as number) + quotient;
    wraps[at] = low;
    if (low >= WORD) (wraps[at + 1] as number)++;
  }
};
