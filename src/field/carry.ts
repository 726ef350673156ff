/**
 * How a shader divides by a power of two. Shifts are the obvious way. SwiftShader's compiler takes vectors apart for every
 * shift, some 35 instructions each, which made them a third of all that a product cost there (docs/performance.md); but adding a float
 * as large as 1.5·2^(23+k) rounds to a multiple of 2^k, and leaves the quotient in the low bits of the mantissa.
 */
export type CarryMode = 'shift' | 'float';

/** A float whose last mantissa bit counts 2^bits, and the word that it is. */
const rounder = (bits: number): { readonly float: string; readonly word: number } => ({
  float: `${1.5 * 2 ** (23 + bits)}.0`,
  word: (127 + 23 + bits) * 2 ** 23 + 2 ** 22,
});

/** WGSL of an i32 `x` / 2^bits: to the nearest integer or one beside it; exactly, where x is a multiple of 2^bits. */
export const carryWgsl = (mode: CarryMode, x: string, bits: number): string => {
  if (mode === 'shift') return `(${x} + ${2 ** (bits - 1)}) >> ${bits}u`;
  const { float, word } = rounder(bits);
  return `bitcast<i32>(f32(${x}) + ${float}) - ${word}`;
};

/** WGSL of ⌊x / 2^bits⌋ for an i32 `x` whose digit x mod 2^bits is at hand. */
export const floorCarryWgsl = (mode: CarryMode, x: string, digit: string, bits: number): string =>
  mode === 'shift' ? `${x} >> ${bits}u` : carryWgsl(mode, `(${x} - ${digit})`, bits);

/** WGSL of `count` bits of the u32 `word` from bit `from`, as an i32; at most 24, as a float holds no more. */
export const bitsWgsl = (mode: CarryMode, word: string, from: number, count: number): string => {
  const mask = 2 ** count - 1;
  if (from === 0) return `i32(${word} & ${mask}u)`;
  if (mode === 'shift') return `i32((${word} >> ${from}u)${from + count < 32 ? ` & ${mask}u` : ''})`;
  const { float, word: zero } = rounder(from);
  const bits = `${word} & ${mask * 2 ** from}u`;
  // what reaches bit 31 would be a negative i32: 2^31 less, and it is added again to what comes out
  return from + count < 32
    ? `bitcast<i32>(f32(i32(${bits})) + ${float}) - ${zero}`
    : `bitcast<i32>(f32(i32((${bits}) ^ 0x80000000u)) + ${float}) - ${zero - 2 ** (31 - from)}`;
};

/** WGSL of the u32 `x`·2^by; what exceeds 32 bits is dropped. */
export const leftWgsl = (mode: CarryMode, x: string, by: number): string =>
  by === 0 ? x : mode === 'shift' ? `(${x} << ${by}u)` : `${x} * ${2 ** by}u`;
