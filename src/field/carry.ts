/**
 * How a shader divides by a power of two. Shifts are the obvious way. SwiftShader's compiler takes vectors apart for every
 * shift, some 35 instructions each, which made them a third of all that a product cost there (docs/performance.md); but adding a float
 * as large as 1.5·2^(23+k) rounds to a multiple of 2^k, and leaves the quotient in the low bits of the mantissa.
 *
 * All values are u32 that hold signed numbers in two's complement: on i32 the same code takes twice as long to compile on Dawn, which
 * wraps every operation in casts.
 */
import type { Modulus } from './modulus.js';

/** Signed products are SwiftShader's, so all that goes with them is carried through floats; all that goes with words shifts. */
export const carriesThroughFloats = ({ product }: Pick<Modulus, 'product'>): boolean => product === 'signed';

/** WGSL of a constant, in two's complement. */
export const wordWgsl = (value: number): string => `${value >>> 0}u`;

/** A float whose last mantissa bit counts 2^bits, and the word that it is. */
const rounder = (bits: number): { readonly float: string; readonly word: number } => ({
  float: `${1.5 * 2 ** (23 + bits)}.0`,
  word: (127 + 23 + bits) * 2 ** 23 + 2 ** 22,
});

/** WGSL of x / 2^bits through a float, to the nearest integer or one beside it; exactly, where x is a multiple of 2^bits. */
export const carryWgsl = (x: string, bits: number): string => {
  const { float, word } = rounder(bits);
  return `bitcast<u32>(f32(bitcast<i32>(${x})) + ${float}) - ${wordWgsl(word)}`;
};

/** WGSL of ⌊x / 2^bits⌋ by a shift. */
export const floorWgsl = (x: string, bits: number): string => `bitcast<u32>(bitcast<i32>(${x}) >> ${bits}u)`;

/** WGSL of `count` bits of a word from bit `from`, through a float; at most 24, as a float holds no more. */
export const bitsWgsl = (word: string, from: number, count: number): string => {
  const mask = 2 ** count - 1;
  if (from === 0) return `(${word} & ${mask}u)`;
  const { float, word: zero } = rounder(from);
  const bits = `${word} & ${wordWgsl(mask * 2 ** from)}`;
  // what reaches bit 31 would be a negative number: 2^31 less, and it is added again to what comes out
  return from + count < 32
    ? `(bitcast<u32>(f32(bitcast<i32>(${bits})) + ${float}) - ${wordWgsl(zero)})`
    : `(bitcast<u32>(f32(bitcast<i32>((${bits}) ^ 0x80000000u)) + ${float}) - ${wordWgsl(zero - 2 ** (31 - from))})`;
};

/** WGSL of x·2^by; what exceeds 32 bits is dropped. */
export const leftWgsl = (x: string, by: number): string => (by === 0 ? x : `${x} * ${2 ** by}u`);
