/**
 * Division by a power of two in shaders: by a shift, or through a float. SwiftShader's compiler
 * splits vectors for every shift, about 35 instructions each, which was a third of the cost of a
 * product there (docs/reference/performance.md). Adding a float of 1.5·2^(23+k) instead rounds to a
 * multiple of 2^k, and leaves the quotient in the low bits of the mantissa.
 *
 * All values are u32 that hold signed numbers in two's complement. The same code on i32 takes twice
 * as long to compile on Dawn, which wraps every operation in casts.
 */
import type { Modulus } from './modulus.js';

/**
 * Returns whether carries go through floats: with signed products, which are made for SwiftShader.
 * Other products shift.
 */
export const carriesThroughFloats = ({ product }: Pick<Modulus, 'product'>): boolean => product === 'signed';

/** Returns WGSL of a constant, in two's complement. */
export const wordWgsl = (value: number): string => `${value >>> 0}u`;

/** Returns a float whose last mantissa bit has the weight 2^bits, and its bits as a word. */
const rounder = (bits: number): { readonly float: string; readonly word: number } => ({
  float: `${1.5 * 2 ** (23 + bits)}.0`,
  word: (127 + 23 + bits) * 2 ** 23 + 2 ** 22,
});

/**
 * Returns WGSL of x / 2^bits through a float: the nearest integer or one next to it; exact if x is
 * a multiple of 2^bits.
 */
export const carryWgsl = (x: string, bits: number): string => {
  const { float, word } = rounder(bits);
  return `bitcast<u32>(f32(bitcast<i32>(${x})) + ${float}) - ${wordWgsl(word)}`;
};

/** Returns WGSL of ⌊x / 2^bits⌋ by a shift. */
export const floorWgsl = (x: string, bits: number): string => `bitcast<u32>(bitcast<i32>(${x}) >> ${bits}u)`;

/**
 * Returns WGSL of `count` bits of a word from bit `from` up, through a float; 24 bits at most, the
 * precision of a float.
 */
export const bitsWgsl = (word: string, from: number, count: number): string => {
  const mask = 2 ** count - 1;
  if (from === 0) return `(${word} & ${mask}u)`;
  const { float, word: zero } = rounder(from);
  const bits = `${word} & ${wordWgsl(mask * 2 ** from)}`;
  // bit 31 would make the number negative, so it is flipped before, and 2^(31 − from) is added to
  // the quotient
  return from + count < 32
    ? `(bitcast<u32>(f32(bitcast<i32>(${bits})) + ${float}) - ${wordWgsl(zero)})`
    : `(bitcast<u32>(f32(bitcast<i32>((${bits}) ^ 0x80000000u)) + ${float}) - ${wordWgsl(zero - 2 ** (31 - from))})`;
};

/** Returns WGSL of x·2^by modulo 2^32. */
export const leftWgsl = (x: string, by: number): string => (by === 0 ? x : `${x} * ${2 ** by}u`);
