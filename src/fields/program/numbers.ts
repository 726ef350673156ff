/** Numbers of a caller, as words. */
import type { FieldEncoding } from '../../api/fields.js';
import type { BytesLike } from '../../api/values.js';
import { copyBytes } from '../../engine/arguments.js';
import { badArgument, kindOf, show } from '../../errors.js';
import { digitsOf, isBelow } from '../../field/modulus.js';
import { wordsOfNumbers } from '../../wasm/vectors/transform-passes.js';

/** How the numbers of a field are written. */
export interface NumberFormat {
  readonly p: bigint;
  readonly wordBytes: number;
}

/** Returns the factor of numbers in an encoding. */
export const scaleOf = (encoding: FieldEncoding, { p, wordBytes }: NumberFormat): bigint =>
  encoding === 'le-montgomery' ? (1n << BigInt(8 * wordBytes)) % p : 1n;

/** Turns big-endian numbers into little-endian ones and back, in place. */
export const reverseNumbers = (bytes: Uint8Array, numberBytes: number): void => {
  for (let at = 0; at < bytes.length; at += numberBytes) bytes.subarray(at, at + numberBytes).reverse();
};

/** Widens or narrows numbers. @param from words of a number @param to words of a number */
export const resized = <Words extends Uint32Array>(words: Words, from: number, to: number): Words => {
  if (from === to) return words;
  const count = words.length / from;
  const result = new Uint32Array(count * to);
  for (let i = 0; i < count; i++) result.set(words.subarray(i * from, i * from + Math.min(from, to)), i * to);
  return result as Words;
};

/** @throws MsmError `bad-argument` naming the first number that is not below p */
const assertBelow = (name: string, words: Uint32Array, { p, wordBytes }: NumberFormat): void => {
  const count = wordBytes / 4;
  const limit = digitsOf(p, 32, count);
  for (let i = 0; i < words.length; i += count) {
    if (isBelow(words, i, limit)) continue;
    throw badArgument(`${name}[${i / count}] is not below the prime of the field; reduce it first`);
  }
};

/**
 * Copies numbers as little-endian words.
 *
 * @param name of the argument, for errors
 * @throws MsmError `bad-argument`
 */
export const copyNumbers = (
  name: string,
  given: BytesLike | readonly bigint[],
  encoding: FieldEncoding,
  format: NumberFormat,
): Uint32Array<ArrayBuffer> => {
  const { p, wordBytes } = format;
  if (Array.isArray(given)) {
    if (encoding !== 'le')
      throw badArgument(`options.encoding is '${encoding}', which bigints do not have; leave it out`);
    for (const [i, value] of given.entries()) {
      if (typeof value !== 'bigint' || value < 0n || value >= p) {
        throw badArgument(`${name}[${i}] must be a bigint from 0 to p − 1, got ${show(value)}`);
      }
    }
    return wordsOfNumbers(given, wordBytes) as Uint32Array<ArrayBuffer>;
  }
  const bytes = copyBytes(name, given, wordBytes, 'number');
  if (bytes === null) throw badArgument(`${name} must be bytes or an array of bigints, got ${kindOf(given)}`);
  if (encoding === 'be') reverseNumbers(bytes, wordBytes);
  const words = new Uint32Array(bytes.buffer);
  assertBelow(name, words, format);
  return words;
};
