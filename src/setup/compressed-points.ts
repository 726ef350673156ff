/**
 * Compressed points of responses: x in big-endian bytes, of G2 the second coefficient first, and flags in
 * the first byte for infinity and for the larger one of y and −y. Source: snarkjs's files.
 */
import type { CurveContext } from '../curves/curve.js';
import { readWords } from '../field/modulus.js';
import { INFINITY } from './groups.js';

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

/** Points that are compressed between two pauses, which takes a few milliseconds. */
const FEW = 2 ** 11;

/** Yields points in parts that are compressed at once. @param words x‖y of each */
export function* fewPoints(
  { pointWords }: CurveContext,
  words: Uint32Array<ArrayBuffer>,
): Generator<Uint32Array<ArrayBuffer>> {
  for (let at = 0; at < words.length; at += FEW * pointWords) yield words.subarray(at, at + FEW * pointWords);
}

/**
 * Compresses points.
 *
 * @param words x‖y of each, little-endian; infinity is zeros
 */
export const compressPoints = (curve: CurveContext, words: Uint32Array): Uint8Array<ArrayBuffer> => {
  const { pointWords } = curve;
  const size = compressedBytes(curve);
  const count = words.length / pointWords;
  const bytes = new Uint8Array(count * size);
  for (let i = 0; i < count; i++) {
    const at = i * pointWords;
    const point = bytes.subarray(i * size, (i + 1) * size);
    if (isZero(words, at, at + pointWords)) {
      point[0] = INFINITY;
      continue;
    }
    point.set(new Uint8Array(words.buffer, words.byteOffset + 4 * at, size));
    point.reverse();
    if (hasLargerY(curve, words, i)) point[0] = (point[0] as number) | LARGER;
  }
  return bytes;
};
