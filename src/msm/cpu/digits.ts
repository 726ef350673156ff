/** Signed digits of scalars, extracted window by window. */
import type { CurveContext } from '../../curves/curve.js';
import { wordsOf } from '../../curves/point-source.js';
import { digitsOf, readWords, writeWords } from '../../field/modulus.js';
import type { WindowArguments } from '../../wasm/lists/bucket-functions.js';
import type { PointAdder } from '../../wasm/points/point-adder.js';
import { windowCount } from '../plan/window-count.js';

/** Scalars in a form from which signed digits are read without carries. */
export interface Digits {
  readonly windowBits: number;
  readonly windows: number;
  /** Scalars plus Σ 2^(c−1)·2^(c·j), little-endian, `words` each. */
  readonly shifted: Uint32Array;
  /** Words per scalar. */
  readonly words: number;
  /** Number of scalars. */
  readonly count: number;
}

/**
 * Returns a function that reduces a scalar modulo the group order r. Where every point has an order
 * that divides r, a scalar becomes the shorter of s and s − r, negative numbers in two's
 * complement; else s in [0, r). Its argument is the scalar, with one word more for the sign.
 */
const reducer = (
  { order, negatesScalars }: CurveContext,
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

/** Returns the words per scalar in `Digits`. */
export const wordsOfDigits = (windows: number, windowBits: number): number =>
  Math.ceil((windows * windowBits + 1) / 32) + 1;

/**
 * Prepares signed digits d_j of c bits, |d_j| ≤ 2^(c−1). The digits of s + Σ 2^(c−1)·2^(c·j), less
 * 2^(c−1) each, are the signed digits of s: each is read without a carry from the one below.
 *
 * @param given scalars in the public format
 * @param bits bit length at most of a scalar modulo the order
 * @param allocate returns uninitialised words
 */
export const digitsOfScalars = (
  curve: CurveContext,
  given: Uint8Array<ArrayBuffer>,
  bits: number,
  windowBits: number,
  allocate: (words: number) => Uint32Array = (words) => new Uint32Array(words),
): Digits => {
  const windows = windowCount(bits, windowBits);
  let offset = 0n;
  for (let j = 0; j < windows; j++) offset |= 1n << BigInt(windowBits * j + windowBits - 1);
  const wider = wordsOfDigits(windows, windowBits);
  const added = digitsOf(offset, 32, wider);
  const own = curve.scalarBytes / 4;
  const from = wordsOf(given);
  const count = from.length / own;
  const shifted = allocate(count * wider);
  const scalar = new Uint32Array(own + 1);
  const reduce = reducer(curve, own + 1);
  for (let i = 0; i < count; i++) {
    for (let w = 0; w < own; w++) scalar[w] = from[i * own + w] as number;
    scalar[own] = 0;
    reduce(scalar);
    const sign = ((scalar[own] as number) >> 31) >>> 0;
    let carry = 0;
    for (let w = 0; w < wider; w++) {
      const sum = (w <= own ? (scalar[w] as number) : sign) + (added[w] as number) + carry;
      shifted[i * wider + w] = sum;
      carry = sum > 0xffffffff ? 1 : 0;
    }
  }
  return { windowBits, windows, shifted, words: wider, count };
};

/** Digits in the memory of an adder. */
export interface DigitsInMemory extends Pick<Digits, 'windowBits' | 'windows' | 'words' | 'count'> {
  /** Address of `shifted`. */
  readonly at: number;
}

/**
 * Copies digits into the memory of an adder. They are read 64 bits at a time, so some bytes follow.
 */
export const digitsIn = (adder: PointAdder, { shifted, ...shape }: Digits): DigitsInMemory => {
  const at = adder.takeWords(shifted.length + 2);
  adder.words(at, shifted.length).set(shifted);
  return { ...shape, at };
};

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
