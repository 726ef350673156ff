/** Elements of each format as words of 32 bits, as they are in memory. */

import { digitsOf, joinLimbs, mod } from '../../field/modulus.js';
import type { WasmField } from '../arithmetic/field-programs.js';
import { bitsOf, centred, centredLimbs, type FloatField } from '../floats/float-field.js';
import { wordsOfBits } from '../floats/float-memory.js';
import type { WordsField } from '../words/words-field.js';

/** A prime field in the format of a kernel. */
export type KernelField = WasmField | WordsField | FloatField;

/** Returns the words of an element. @param value below p, in Montgomery form */
export const wordsOfElement = (field: KernelField, value: bigint): number[] => {
  if (field.kind !== 'floats') return digitsOf(value, field.width, field.limbs);
  return centredLimbs(field, centred(value, field.p)).flatMap((limb) => wordsOfBits(bitsOf(Number(limb))));
};

/** Returns a·R⁻¹ mod p of an element a in Montgomery form. */
export const valueOfWords = (field: KernelField, words: Int32Array): bigint => {
  if (field.kind === 'integers') return mod(joinLimbs([...words], field.width) * field.rInverse, field.p);
  if (field.kind === 'words') return mod(joinLimbs([...new Uint32Array(words)], 32) * field.rInverse, field.p);
  const limbs = new Float64Array(words.slice().buffer);
  const value = limbs.reduceRight((sum, limb) => (sum << BigInt(field.width)) + BigInt(limb), 0n);
  return mod(value * field.rInverse, field.p);
};
