/** Calldata of the verifier contracts that snarkjs writes: numbers as 32 bytes in hexadecimal. */
import { readArray, readDecimal } from './snarkjs-json.js';

/** Digits of 32 bytes; numbers of BLS12-381 have more. */
const DIGITS = 64;

/**
 * Returns a decimal number as a quoted word.
 *
 * @param name the place of the number in errors
 * @throws MsmError `bad-argument` if it is no decimal number
 */
export const wordOf = (name: string, number: unknown): string =>
  `"0x${readDecimal(name, number).toString(16).padStart(DIGITS, '0')}"`;

/** Returns the words of some members of an array. @throws MsmError `bad-argument` as `wordOf` */
export const wordsOf = (name: string, numbers: unknown, indices: readonly number[]): string[] => {
  const given = readArray(name, numbers);
  return indices.map((index) => wordOf(`${name}[${index}]`, given[index]));
};

/** Returns the words of public values. @throws MsmError `bad-argument` as `wordOf` */
export const publicWords = (publicSignals: unknown): string => {
  const count = Array.isArray(publicSignals) ? publicSignals.length : 0;
  return wordsOf('publicSignals', publicSignals, [...Array(count).keys()]).join();
};
