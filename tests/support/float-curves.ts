/** Fields of floats, and curves over them, for tests of their kernels. */
import { mod } from '../../src/field/modulus.js';
import { wasmField } from '../../src/wasm/arithmetic/field-programs.js';
import type { WasmCurve } from '../../src/wasm/arithmetic/kernel-memory.js';
import { randomPrimes } from './primes.js';

/** Primes of all lengths from 46 to 414 bits, in turns. */
export const floatPrimes: readonly bigint[] = [...randomPrimes(38, 81), 2n ** 61n - 1n, 2n ** 414n - 17n];

/** Some of them, from one limb to nine. */
export const fewFloatPrimes = floatPrimes.filter((_, i) => i === 0 || i % 7 === 4);

/** Returns a curve with a number a; with two coefficients if u² is given. */
export const anyCurve = (p: bigint, nonResidue: bigint | null, a = 5n): WasmCurve => {
  const degree = nonResidue === null ? 1 : 2;
  const bytes = 16 * Math.ceil(p.toString(2).length / 128);
  const second = degree === 1 ? [] : [mod(a * 7n, p)];
  return {
    field: wasmField(p, degree),
    nonResidue,
    a: [a, ...second],
    b: [3n, ...second],
    wordBytes: bytes,
  };
};
