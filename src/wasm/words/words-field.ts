/** Elements as words of 64 bits. */
import { invert } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { FieldFormat } from '../arithmetic/field-programs.js';

/** A prime field whose elements are integers in [0, `bound`), stored as they are. */
export interface WordsField extends FieldFormat {
  readonly kind: 'words';
  /** Words of 64 bits of an element. */
  readonly words: number;
  /** p, or 2p where a product of such elements is below 2p without a subtraction. */
  readonly bound: bigint;
}

/**
 * A product a·b·R⁻¹ is below p + a·b/R (Montgomery 1985): for a, b < 2p and R ≥ 4p, below 2p. The
 * sum after each word of a product is below a + p, so that it does not exceed R.
 */
export const wordsField = (p: bigint): WordsField => {
  const words = Math.ceil((p.toString(2).length + 1) / 64);
  const R = 1n << BigInt(64 * words);
  return {
    ...{ kind: 'words', p, width: 32, limbs: 2 * words, words, bytes: 8 * words },
    ...{ r: R % p, rInverse: invert(R, p), bound: R >= 4n * p ? 2n * p : p },
  };
};

/** Returns the words of 64 bits of a number, least significant first. */
export const wordsOf64 = ({ words }: WordsField, value: bigint): bigint[] =>
  range(words).map((i) => BigInt.asUintN(64, value >> BigInt(64 * i)));
