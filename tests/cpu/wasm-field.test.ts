/** Products, sums and inverses in WebAssembly for many primes: right, and within their bounds. */
import { describe, expect, test } from 'vitest';
import { invert, joinLimbs, mod } from '../../src/field/modulus.js';
import { type WasmField, wasmField } from '../../src/wasm/arithmetic/field-programs.js';
import {
  addFormula,
  addIsZero,
  type Formula,
  type Lanes,
  plainProduct,
  sumFormula,
} from '../../src/wasm/arithmetic/formula.js';
import { addInverse } from '../../src/wasm/arithmetic/inverse.js';
import { WasmModule } from '../../src/wasm/encoder/module.js';
import { primes, randomPrimes } from '../support/primes.js';

const ELEMENT = 64;
const WORK = 8192;
const places = (index: number): number => 1024 + ELEMENT * index;

/** Limbs from the lowest; the last one has the sign. */
const limbsOf = (f: WasmField, value: bigint): number[] => {
  let rest = value;
  return Array.from({ length: f.limbs }, (_, i) => {
    if (i === f.limbs - 1) return Number(rest);
    const low = mod(rest, 1n << BigInt(f.width));
    rest = (rest - low) >> BigInt(f.width);
    return Number(low);
  });
};

const open = (f: WasmField, write: (module: WasmModule) => void) => {
  const module = new WasmModule();
  write(module);
  const memory = new WebAssembly.Memory({ initial: 1 });
  const compiled = new WebAssembly.Module(module.bytes());
  const { exports } = new WebAssembly.Instance(compiled, { host: { memory } });
  const words = new Int32Array(memory.buffer);
  const put = (at: number, value: bigint): void => words.set(limbsOf(f, value), at / 4);
  const get = (at: number): bigint => joinLimbs([...words.subarray(at / 4, at / 4 + f.limbs)], f.width);
  return { functions: exports as Record<string, (...args: number[]) => number>, words, put, get };
};

/** Elements at the bounds of their range, at 0 and p, and with full or empty limbs. */
const elements = ({ p, width, limbs }: WasmField): bigint[] => {
  const full = 2n ** BigInt(width * (limbs - 1)) - 1n;
  return [0n, 1n, p - 1n, p, p + 1n, -1n, -(p / 4n), (5n * p) / 4n, full, p / 3n, (p / 4n) | (full >> 3n)];
};

type Meaning = (...values: readonly bigint[]) => readonly [times: bigint, plus: bigint];

const of = (name: string, less?: string) => ({ of: name, ...(less !== undefined && { less }) });

const formulas: readonly (readonly [Formula, Meaning])[] = [
  [plainProduct, (a, b) => [a! * b!, 0n]],
  [{ parameters: ['to', 'a'], factors: [of('a')] }, (a) => [a! * a!, 0n]],
  [{ parameters: ['to', 'a', 'b', 'c'], factors: [of('a'), of('b', 'c')] }, (a, b, c) => [a! * (b! - c!), 0n]],
  [
    { parameters: ['to', 'a', 'b', 'c', 'd'], factors: [of('a', 'b'), of('c', 'd')] },
    (a, b, c, d) => [(a! - b!) * (c! - d!), 0n],
  ],
  [
    { parameters: ['to', 'a', 'b', 'c'], factors: [of('a')], plus: sumFormula({ b: -1, c: -1 }).plus ?? [] },
    (a, b, c) => [a! * a!, -b! - c!],
  ],
  [sumFormula({ a: 1, b: -6 }), (a, b) => [0n, a! - 6n * b!]],
];

const check = (p: bigint): void => {
  const f = wasmField(p, 1);
  const all = elements(f);
  for (const lanes of [1, 2] as Lanes[]) {
    const { functions, put, get } = open(f, (module) => {
      for (const [i, [formula]] of formulas.entries()) {
        const index = addFormula(module, f, lanes, formula);
        const parameters = Array.from({ length: lanes * formula.parameters.length }, () => 'i32' as const);
        module.add(`f${i}`, { parameters }, (code, ...addresses) => code.call(index, ...addresses));
      }
    });
    for (const [i, [{ parameters, factors = [], plus = [] }, means]] of formulas.entries()) {
      for (let k = 0; k < all.length ** 2; k++) {
        // all pairs occur as the first two operands, and in the two lanes
        const inLanes = Array.from({ length: lanes }, (_, lane) =>
          parameters.slice(1).map((_, j) => {
            const from = j === 0 ? k : j === 1 ? Math.floor(k / all.length) : k * (j + 2) + j;
            return all[(from + 3 * lane) % all.length] as bigint;
          }),
        );
        const args = parameters.flatMap((_, j) => inLanes.map((_, lane) => places(j * lanes + lane)));
        for (const [lane, values] of inLanes.entries()) {
          for (const [j, value] of values.entries()) put(places((j + 1) * lanes + lane), value);
        }
        (functions[`f${i}`] as (...args: number[]) => void)(...args);
        for (const [lane, values] of inLanes.entries()) {
          const [times, added] = means(...values);
          const got = get(places(lane));
          expect(mod(got, p), `${parameters}: ${values}`).toBe(mod(times * f.rInverse + added, p));
          const slack = plus.length > 0 ? p / 64n : p / 4n;
          if (factors.length > 0 || plus.length > 0) {
            expect(got).toBeGreaterThanOrEqual(-slack);
            expect(got).toBeLessThanOrEqual(p + slack);
          }
        }
      }
    }
  }
};

const inverts = (p: bigint): void => {
  const f = wasmField(p, 1);
  const start = WORK;
  const { functions, put, get, words } = open(f, (module) => {
    const signed = addFormula(module, f, 1, { parameters: ['to', 'a', 's'], plus: [[{ of: 'a', sign: 's' }, 1]] });
    const inverse = addInverse(module, f, { start, work: WORK + 64, sign: WORK + 128 }, (code, to, from, sign) =>
      code.call(signed, to, from, sign),
    );
    const isZero = addIsZero(module, f);
    module.add('invert', { parameters: ['i32', 'i32'] }, (code, to, from) => code.call(inverse, to, from));
    module.add('isZero', { parameters: ['i32'], result: 'i32' }, (code, a) => code.call(isZero, a));
  });
  put(start, mod(f.r * f.r, p));
  const values = elements(f).flatMap((value) => [value, mod(value ** 3n + 12345n, p)]);
  for (const value of values) {
    put(places(0), value);
    const isZero = mod(value, p) === 0n;
    expect(functions.isZero?.(places(0)) === 1, `${value} is 0`).toBe(isZero);
    if (isZero) continue;
    functions.invert?.(places(1), places(0));
    const got = get(places(1));
    expect(mod(got, p), String(value)).toBe(mod(invert(value, p) * f.r * f.r, p));
    expect(got > -p / 4n && got < (5n * p) / 4n).toBe(true);
  }
  expect(words.length).toBe(16384);
};

const computes = (p: bigint): void => {
  check(p);
  inverts(p);
};

describe('primes at the limits of the format', () => {
  test.each(Object.entries(primes))('%s', (_, p) => computes(p));
});

test.each(randomPrimes(6, 17).map((p) => `0x${p.toString(16)}`))('%s', (p) => computes(BigInt(p)));

test('60 random primes compute right', { tags: 'long' }, () => {
  for (const p of randomPrimes(60, 18)) {
    try {
      computes(p);
    } catch (error) {
      throw new Error(`0x${p.toString(16)}: ${(error as Error).message}`, { cause: error });
    }
  }
});

test('limbs fit primes of every length, for both degrees', () => {
  for (let bits = 46; bits <= 414; bits++) {
    for (const degree of [1, 2] as const) {
      const f = wasmField((1n << BigInt(bits - 1)) + 1n, degree);
      expect(f.width).toBeLessThanOrEqual(29);
      expect(f.width * f.limbs).toBeGreaterThanOrEqual(bits + 4 + degree);
      expect(2 ** (f.bits - f.width * (f.limbs - 1))).toBeGreaterThanOrEqual(2 ** 7);
    }
  }
});
