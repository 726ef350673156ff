/**
 * Calldata of the verifier contracts that snarkjs writes: numbers as words of 32 bytes in
 * hexadecimal. Infinity is (0, 0), as EIP-196 and EIP-197 write it; snarkjs passes its own (0, 1)
 * on, which the precompiled contracts refuse.
 */
import type { AffinePoint } from '../api/values.js';
import { badArgument } from '../errors.js';
import { inNumbers, inPairs, readJsonPoint, readNumber, readPublicSignals } from './snarkjs-json.js';

/** Digits of a word. */
const DIGITS = 64;

/** @throws MsmError `bad-argument` for a number of more than 32 bytes */
const wordOf = (name: string, number: bigint): string => {
  const digits = number.toString(16);
  if (digits.length <= DIGITS) return `"0x${digits.padStart(DIGITS, '0')}"`;
  throw badArgument(
    `${name} must be below 2^256, a word of a contract; the contracts of snarkjs verify on bn254 alone`,
  );
};

/**
 * Returns a number as a quoted word.
 *
 * @param name the place of the number in errors
 * @throws MsmError `bad-argument` if it is no number below 2^256
 */
export const numberWord = (name: string, number: unknown): string => wordOf(name, readNumber(name, number));

/** Returns the words of a point in G1. @throws MsmError `bad-argument` as `numberWord` */
export const pointWords = (name: string, point: unknown): readonly [x: string, y: string] => {
  const { x, y, infinity }: AffinePoint = readJsonPoint(name, point, inNumbers);
  const word = (i: number, coordinate: bigint): string => wordOf(`${name}[${i}]`, infinity ? 0n : coordinate);
  return [word(0, x), word(1, y)];
};

/**
 * Returns the words of a point in G2: two for each coordinate, c1 before c0.
 *
 * @throws MsmError `bad-argument` as `numberWord`
 */
export const pairWords = (name: string, point: unknown): readonly (readonly [c1: string, c0: string])[] => {
  const { x, y, infinity } = readJsonPoint(name, point, inPairs);
  return [x, y].map(({ c0, c1 }, i) => {
    const word = (k: number, number: bigint): string => wordOf(`${name}[${i}][${k}]`, infinity ? 0n : number);
    return [word(1, c1), word(0, c0)];
  });
};

/** Returns the words of public values. @throws MsmError `bad-argument` as `numberWord` */
export const publicWords = (publicSignals: unknown): string =>
  readPublicSignals(publicSignals)
    .map((signal, i) => wordOf(`publicSignals[${i}]`, signal))
    .join();
