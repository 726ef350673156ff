/** Signed digits of scalars, extracted window by window. */
import type { CurveContext } from '../../curves/curve.js';
import { wordsOf } from '../../curves/point-source.js';
import { digitsOf, readWords, writeWords } from '../../field/modulus.js';
import type { WindowArguments } from '../../wasm/lists/bucket-functions.js';
import type { PointAdder } from '../../wasm/points/point-adder.js';
import { windowCount } from '../plan/window-count.js';

/** Shape of signed digits in a form from which they are read without carries. */
export interface DigitShape {
  readonly windowBits: number;
  readonly windows: number;
  /** Words per scalar in this form. */
  readonly words: number;
  /** Number of scalars. */
  readonly count: number;
}

/**
 * Scalars whose digits are written where they are needed: the threads of a round share that work.
 * Can be sent to another thread.
 */
export interface Digits extends DigitShape, Pick<CurveContext, 'order' | 'negatesScalars' | 'scalarBytes'> {
  /** Scalars in the public format. */
  readonly scalars: Uint32Array;
}

/**
 * Returns a function that reduces a scalar modulo the group order r. Where every point has an order
 * that divides r, a scalar becomes the shorter of s and s − r, negative numbers in two's
 * complement; else s in [0, r). Its argument is the scalar, with one word more for the sign.
 */
const reducer = (
  { order, negatesScalars }: Pick<CurveContext, 'order' | 'negatesScalars'>,
  words: number,
): ((scalar: Uint32Array<ArrayBuffer>) => void) => {
  const [last, half] = [order - 1n, order >> 1n].map((value) => digitsOf(value, 32, words)) as [number[], number[]];
  const exceeds = (scalar: Uint32Array, limit: readonly number[]): boolean => {
    for (let w = words - 1; w >= 0; w--) {
      const difference = (scalar[w] as number) - (limit[w] as number);
      if (difference !== 0) return difference > 0;
    }
    return false;
  };
  return (scalar) => {
    if (!exceeds(scalar, half)) return;
    if (exceeds(scalar, last)) writeWords(scalar, 0, words, readWords(scalar, 0, words) % order);
    if (!negatesScalars || !exceeds(scalar, half)) return;
    // s − r = s − (r − 1) − 1
    let borrow = 1;
    for (let w = 0; w < words; w++) {
      const rest = (scalar[w] as number) - (last[w] as number) - borrow;
      scalar[w] = rest;
      borrow = rest < 0 ? 1 : 0;
    }
  };
};

/** Returns the words per scalar of signed digits. */
export const wordsOfDigits = (windows: number, windowBits: number): number =>
  Math.ceil((windows * windowBits + 1) / 32) + 1;

/**
 * Returns the shape of signed digits d_j of c bits, |d_j| ≤ 2^(c−1), of some scalars.
 *
 * @param given scalars in the public format
 * @param bits bit length at most of a scalar modulo the order
 */
export const digitsOfScalars = (
  { order, negatesScalars, scalarBytes }: CurveContext,
  given: Uint8Array<ArrayBuffer>,
  bits: number,
  windowBits: number,
): Digits => {
  const scalars = wordsOf(given);
  const windows = windowCount(bits, windowBits);
  const words = wordsOfDigits(windows, windowBits);
  const count = (4 * scalars.length) / scalarBytes;
  return { windowBits, windows, words, count, scalars, order, negatesScalars, scalarBytes };
};

/** Writes the digits of scalars `first` to `end`. */
export type WriteDigits = (first: number, end: number, to: Int32Array) => void;

/**
 * Returns a function that writes signed digits. The digits of s + Σ 2^(c−1)·2^(c·j), less 2^(c−1)
 * each, are the signed digits of s: each is read without a carry from the one below. Written are
 * these sums, little-endian, `words` each.
 */
export const digitWriter = ({ scalars, windowBits, windows, words, scalarBytes, ...order }: Digits): WriteDigits => {
  let offset = 0n;
  for (let j = 0; j < windows; j++) offset |= 1n << BigInt(windowBits * j + windowBits - 1);
  const added = digitsOf(offset, 32, words);
  const own = scalarBytes / 4;
  const scalar = new Uint32Array(own + 1);
  const reduce = reducer(order, own + 1);
  return (first, end, to) => {
    for (let i = first; i < end; i++) {
      for (let w = 0; w < own; w++) scalar[w] = scalars[i * own + w] as number;
      scalar[own] = 0;
      reduce(scalar);
      const sign = ((scalar[own] as number) >> 31) >>> 0;
      let carry = 0;
      for (let w = 0; w < words; w++) {
        const sum = (w <= own ? (scalar[w] as number) : sign) + (added[w] as number) + carry;
        to[(i - first) * words + w] = sum;
        carry = sum > 0xffffffff ? 1 : 0;
      }
    }
  };
};

/** Digits in the memory of an adder. */
export interface DigitsInMemory extends DigitShape {
  /** Address of what `WriteDigits` writes. */
  readonly at: number;
}

/** Reserves memory for digits. They are read 64 bits at a time, so some bytes follow. */
export const takeDigits = (
  adder: PointAdder,
  { windowBits, windows, words }: DigitShape,
  count: number,
): DigitsInMemory => ({ windowBits, windows, words, count, at: adder.takeWords(count * words + 2) });

/**
 * Returns where the digits of window `j` are, and which buckets are wanted. The top digit takes all
 * bits that are left.
 */
export const windowArguments = (
  { windowBits, windows, words, count, at }: DigitsInMemory,
  j: number,
  low: number,
  width: number,
): WindowArguments => {
  const bit = j * windowBits;
  const mask = 2 ** (j === windows - 1 ? windowBits + 1 : windowBits) - 1;
  return [at + (bit >>> 3), 4 * words, bit & 7, mask, 2 ** (windowBits - 1), count, low, width];
};
