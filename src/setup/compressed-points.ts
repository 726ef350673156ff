/**
 * Compressed points of responses: x in big-endian bytes, of G2 the second coefficient first, and flags in
 * the first byte for infinity and for the larger one of y and −y. Source: snarkjs's files.
 */
import type { CurveContext } from '../curves/curve.js';
import { readWords } from '../field/modulus.js';
import { INFINITY } from './groups.js';
import { number } from './key-writer.js';

/** A first byte with this bit marks the larger one of y and −y. */
export const LARGER = 0x80;

/** Bytes of a compressed point. */
export const compressedBytes = ({ pointBytes }: CurveContext): number => pointBytes / 2;

/** Returns whether the numbers of a point are all zero, from a word to another. */
const isZero = (words: Uint32Array, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (words[at] !== 0) return false;
  return true;
};

/**
 * Returns whether y is larger than −y. Of a pair the second coefficient decides, unless it is 0.
 *
 * @param words x‖y of each point, little-endian
 */
export const hasLargerY = (
  { pointWords, coordinates, p }: CurveContext,
  words: Uint32Array,
  index: number,
): boolean => {
  const end = (index + 1) * pointWords;
  const each = pointWords / 2 / coordinates.degree;
  let leading = end - each;
  while (leading > end - pointWords / 2 && isZero(words, leading, leading + each)) leading -= each;
  return 2n * readWords(words, leading, each) > p;
};

/** Points that are compressed, or decompressed, between two pauses, which takes a few milliseconds. */
export const FEW = 2 ** 11;

/** Yields points in parts that are compressed at once. @param words x‖y of each */
export function* fewPoints(
  { pointWords }: CurveContext,
  words: Uint32Array<ArrayBuffer>,
): Generator<Uint32Array<ArrayBuffer>> {
  for (let at = 0; at < words.length; at += FEW * pointWords) yield words.subarray(at, at + FEW * pointWords);
}

/**
 * Compresses points: x, and a flag if y is larger than −y.
 *
 * @param points as transcripts have them (`hashedPoints`)
 */
export const compressPoints = (
  { pointBytes, coordinates, p }: CurveContext,
  points: Uint8Array,
): Uint8Array<ArrayBuffer> => {
  const half = pointBytes / 2;
  const each = half / coordinates.degree;
  const middle = number((p - 1n) / 2n, each).reverse();
  const bytes = new Uint8Array(points.length / 2);
  const isZeroAt = (at: number, end: number): boolean => {
    while (at < end && points[at] === 0) at++;
    return at === end;
  };
  const isAboveMiddle = (at: number): boolean => {
    let i = 0;
    while (i < each && points[at + i] === middle[i]) i++;
    return i < each && (points[at + i] as number) > (middle[i] as number);
  };
  for (let from = 0; from < points.length; from += pointBytes) {
    const [y, end] = [from + half, from + pointBytes];
    bytes.set(points.subarray(from, y), from / 2);
    let leading = y;
    while (leading < end - each && isZeroAt(leading, leading + each)) leading += each;
    if (isZeroAt(leading, end) && isZeroAt(from, y)) bytes[from / 2] = INFINITY;
    else if (isAboveMiddle(leading)) bytes[from / 2] = (bytes[from / 2] as number) | LARGER;
  }
  return bytes;
};
