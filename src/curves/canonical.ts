import { digitsOf } from '../field/modulus.js';
import type { CurveContext } from './curve.js';

/**
 * Returns a function that tells whether the numbers of a point are below p.
 *
 * @param words x‖y of the points, little-endian
 * @param tested words at the beginning of a point that are tested
 */
export const canonicalTest = (
  { p, pointWords, field }: CurveContext,
  words: Uint32Array,
  tested: number,
): ((index: number) => boolean) => {
  const wordsOfNumber = field.bytes / 4;
  const limits = digitsOf(p, 32, wordsOfNumber);
  const isBelowP = (at: number): boolean => {
    for (let i = wordsOfNumber - 1; i >= 0; i--) {
      const [word, limit] = [words[at + i] as number, limits[i] as number];
      if (word !== limit) return word < limit;
    }
    return false;
  };
  return (index) => {
    const begin = index * pointWords;
    for (let at = begin; at < begin + tested; at += wordsOfNumber) if (!isBelowP(at)) return false;
    return true;
  };
};
