/** Signed digits of scalars, extracted window by window. */
import type { CurveContext } from '../../curves/curve.js';
import { wordsOf } from '../../curves/point-source.js';
import { digitsOf, readWords, writeWords } from '../../field/modulus.js';
import { windowCount } from '../plan/window-count.js';

/** Scalars in a form from which `digitsAt` reads signed digits. */
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
 * Reduces scalars modulo the group order r. Where every point has an order that divides r, a scalar
 * becomes the shorter of s and s − r, negative numbers in two's complement; else s in [0, r).
 *
 * @param given scalars in the public format
 * @returns little-endian scalars of `words` words, one more than before for the sign
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
  const { scalars, words } = signedScalars(curve, given);
  const windows = windowCount(bits, windowBits);
  const count = scalars.length / words;
  let offset = 0n;
  for (let j = 0; j < windows; j++) offset |= 1n << BigInt(windowBits * j + windowBits - 1);
  const wider = wordsOfDigits(windows, windowBits);
  const added = digitsOf(offset, 32, wider);
  const shifted = allocate(count * wider);
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

/** Returns digit j of every scalar. The top digit takes all bits that are left. */
export const digitsAt = ({ windowBits, windows, shifted, words, count }: Digits, j: number): Int32Array => {
  const bit = j * windowBits;
  const shift = bit & 31;
  const mask = 2 ** (j === windows - 1 ? windowBits + 1 : windowBits) - 1;
  const half = 2 ** (windowBits - 1);
  const digits = new Int32Array(count);
  for (let i = 0, at = bit >>> 5; i < count; i++, at += words) {
    const low = (shifted[at] as number) >>> shift;
    // two shifts, since JavaScript takes a shift by 32 as one by 0
    const high = ((shifted[at + 1] as number) << (31 - shift)) << 1;
    digits[i] = ((low | high) & mask) - half;
  }
  return digits;
};
