/** Calldata of the verifier contracts that snarkjs writes: numbers as 32 bytes in hexadecimal. */
import { badArgument, kindOf } from '../errors.js';

/** Digits of 32 bytes; numbers of BLS12-381 have more. */
const DIGITS = 64;

/**
 * Returns a decimal number as a quoted word.
 *
 * @param name the place of the number in errors
 * @throws MsmError `bad-argument` if it is no decimal number
 */
export const wordOf = (name: string, number: unknown): string => {
  if (typeof number !== 'string' || !/^\d+$/.test(number)) {
    throw badArgument(`${name} must be a decimal number in a string, got ${kindOf(number)}`);
  }
  return `"0x${BigInt(number).toString(16).padStart(DIGITS, '0')}"`;
};

/** Returns the words of some members of an array. @throws MsmError `bad-argument` as `wordOf` */
export const wordsOf = (name: string, numbers: unknown, indices: readonly number[]): string[] => {
  if (!Array.isArray(numbers)) throw badArgument(`${name} must be an array, got ${kindOf(numbers)}`);
  return indices.map((index) => wordOf(`${name}[${index}]`, numbers[index]));
};

/** Returns the words of public values. @throws MsmError `bad-argument` as `wordOf` */
export const publicWords = (publicSignals: unknown): string => {
  const count = Array.isArray(publicSignals) ? publicSignals.length : 0;
  return wordsOf('publicSignals', publicSignals, [...Array(count).keys()]).join();
};

/** Checks a proof's protocol. @throws MsmError `bad-argument` */
export const assertProtocol = (proof: unknown, protocol: string): void => {
  const { protocol: given } = (proof ?? {}) as { readonly protocol?: unknown };
  if (given !== protocol) throw badArgument(`proof must be a proof of ${protocol}, got ${kindOf(proof)}`);
};
