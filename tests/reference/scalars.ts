import { type Modulus, readWords, writeWords } from '../../src/field/modulus.js';
import { digestOfScalars } from './digest.js';

/** Shape of a conversion; see ScalarsConfig. */
export interface Conversion {
  readonly length: number;
  readonly first: number;
  readonly vector: number;
  readonly firstBase: number;
}

const SCALAR_WORDS = 8;

/**
 * CPU reference of wgsl/fields/scalars.wgsl, in BigInt: the scalars of consecutive elements, and
 * their digest.
 *
 * @param elements words of a vector in memory, which may be above the prime
 */
export const scalarsOf = (
  field: Modulus,
  elements: Uint32Array,
  { length, first, vector, firstBase }: Conversion,
): { readonly scalars: Uint32Array; readonly digest: number } => {
  const scalars = new Uint32Array(SCALAR_WORDS * length);
  for (let i = 0; i < length; i++) {
    const element = readWords(elements, (first + i) * field.words, field.words);
    writeWords(scalars, i * SCALAR_WORDS, SCALAR_WORDS, (element * field.rInverse) % field.p);
  }
  return { scalars, digest: digestOfScalars(scalars, SCALAR_WORDS, vector, 0, (i) => firstBase + i) };
};
