/** Signed digits of many scalars at a time. */
import type { CurveContext } from '../../curves/curve.js';
import { wordsOf } from '../../curves/point-source.js';
import { digitsOf, readWords, writeWords } from '../../field/modulus.js';
import { windowCount } from '../plan/window-count.js';

/** Digits of scalars. */
export interface Digits {
  readonly windowBits: number;
  readonly windows: number;
  /** Scalars plus `offset`, little-endian, `words` each. */
  readonly shifted: Uint32Array;
  readonly words: number;
  readonly count: number;
}

/**
 * Scalars modulo the order, negative ones as two's complement says: what is shorter of s and s − r where the order of all points divides r, and else
 * s in [0, r).
 *
 * @param given in the public format
 * @returns so many words each, little-endian: one more than they had, for the sign
 */
const signedScalars = (
  { order, scalarBytes, negatesScalars }: CurveContext,
  given: Uint8Array<ArrayBuffer>,
): { readonly scalars: Uint32Array; readonly words: number } => {
  const words = scalarBytes / 4 + 1;
  const from = wordsOf(given);
  const count = given.length / scalarBytes;
  const scalars = new Uint32Array(count * words);
  const [last, half] = [order - 1n, order >> 1n].map((value) => digitsOf(value, 32, words)) as [number[], number[]];
  const exceeds = (at: number, limit: readonly number[]): boolean => {
    for (let w = words - 1; w >= 0; w--) {
      const difference = (scalars[at + w] as number) - (limit[w] as number);
      if (difference !== 0) return difference > 0;
    }
    return false;
  };
  for (let i = 0; i < count; i++) {
    const at = i * words;
    for (let w = 0; w < words - 1; w++) scalars[at + w] = from[i * (words - 1) + w] as number;
    if (!exceeds(at, half)) continue;
    if (exceeds(at, last)) writeWords(scalars, at, words, readWords(scalars, at, words) % order);
    if (!negatesScalars || !exceeds(at, half)) continue;
    // s − r = s − (r − 1) − 1
    let borrow = 1;
    for (let w = 0; w < words; w++) {
      const rest = (scalars[at + w] as number) - (last[w] as number) - borrow;
      scalars[at + w] = rest;
      borrow = rest < 0 ? 1 : 0;
    }
  }
  return { scalars, words };
};

/** Words of a scalar in `Digits`. */
export const wordsOfDigits = (windows: number, windowBits: number): number =>
  Math.ceil((windows * windowBits + 1) / 32) + 1;

/**
 * Signed digits d_j of c bits, |d_j| ≤ 2^(c−1): those of the scalar plus Σ 2^(c−1)·2^(c·j), less 2^(c−1) each, so that no digit waits for a carry.
 *
 * @param given in the public format, each of at most so many bits once it is taken modulo the order
 * @param make room for so many words
 */
export const digitsOfScalars = (
  curve: CurveContext,
  given: Uint8Array<ArrayBuffer>,
  bits: number,
  windowBits: number,
  make: (words: number) => Uint32Array = (words) => new Uint32Array(words),
): Digits => {
  const { scalars, words } = signedScalars(curve, given);
  const windows = windowCount(bits, windowBits);
  const count = scalars.length / words;
  let offset = 0n;
  for (let j = 0; j < windows; j++) offset |= 1n << BigInt(windowBits * j + windowBits - 1);
  const wider = wordsOfDigits(windows, windowBits);
  const added = digitsOf(offset, 32, wider);
  const shifted = make(count * wider);
  for (let i = 0; i < count; i++) {
    const sign = ((scalars[(i + 1) * words - 1] as number) >> 31) >>> 0;
    let carry = 0;
    for (let w = 0; w < wider; w++) {
      const sum = (w < words ? (scalars[i * words + w] as number) : sign) + (added[w] as number) + carry;
      shifted[i * wider + w] = sum;
      carry = sum > 0xffffffff ? 1 : 0;
    }
  }
  return { windowBits, windows, shifted, words: wider, count };
};

/** Digit j of every scalar; the top one takes what is left. */
export const digitsAt = ({ windowBits, windows, shifted, words, count }: Digits, j: number): Int32Array => {
  const bit = j * windowBits;
  const shift = bit & 31;
  const mask = 2 ** (j === windows - 1 ? windowBits + 1 : windowBits) - 1;
  const half = 2 ** (windowBits - 1);
  const digits = new Int32Array(count);
  for (let i = 0, at = bit >>> 5; i < count; i++, at += words) {
    const low = (shifted[at] as number) >>> shift;
    // in two steps, as a shift by 32 is one by 0
    const high = ((shifted[at + 1] as number) << (31 - shift)) << 1;
    digits[i] = ((low | high) & mask) - half;
  }
  return digits;
};
