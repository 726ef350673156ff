/**
 * field-bench's own products: right on several primes, on random operands and on the largest that
 * they take.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { ChainConfig, fieldChain } from '../../dev/field-bench/kernels.js';
import type { FieldOperation } from '../../dev/field-bench/operation.js';
import { pairOperations } from '../../dev/field-bench/pairs.js';
import { fieldBench } from '../../dev/field-bench/run.js';
import { float22 } from '../../dev/field-bench/variants/float.js';
import { productVariants } from '../../dev/field-bench/variants/index.js';
import { Random } from '../../dev/oracle/known-bases.js';
import { invert, type Modulus, mod, modulus } from '../../src/field/modulus.js';
import { getDevice, getGpu } from '../support/gpu.js';
import { primes as allPrimes } from '../support/primes.js';
import { compileKernel, runKernel } from '../support/run-kernel.js';

/** The lengths that the variants are for: BN254's, one that fills its words, and BLS12-381's. */
const primes = Object.entries(allPrimes).filter(([name]) => /^(BN254 base|P-256|BLS12-381 base)/.test(name));

const features = async (): Promise<ReadonlySet<string>> => (await getGpu()).wgslLanguageFeatures as ReadonlySet<string>;

const isFloat = ({ variant }: { readonly variant: string }): boolean => variant === float22.variant;

/**
 * Operands below 2p, which variants without a last subtraction take: the largest limbs there are,
 * and 1 and p, which give the largest q.
 */
const extremes = ({ p, bits }: Modulus): bigint[] => {
  const almost = ((2n * p) >> BigInt(bits - 8)) << BigInt(bits - 8);
  return [0n, 1n, p - 1n, p, p + 1n, 2n * p - 1n, 2n ** BigInt(bits) - 1n, almost - 1n];
};

describe.each(primes)('the base field of %s', (_, p) => {
  test('every variant is right on random operands, and is measured or skipped for a reason', async () => {
    const m = modulus(p);
    const [device, has] = [await getDevice(), await features()];
    const { rows, skipped } = await fieldBench(device, m, {
      threads: 64,
      chains: [1],
      reps: 1,
      leastMs: 1,
      features: has,
      operations: productVariants,
    });
    const seen = [...rows, ...skipped].map(({ variant }) => variant);
    expect(seen.toSorted()).toEqual(productVariants.map(({ variant }) => variant).toSorted());
    for (const { variant, why } of skipped) expect(isFloat({ variant }) ? why : variant).toBe('not exact here');
  });

  test('products and squares of pairs are right', async () => {
    const operations = pairOperations('signed', 'signed').concat(pairOperations('unsigned', 'unsigned'));
    const options = { threads: 64, chains: [1], reps: 1, leastMs: 1, features: await features(), operations };
    const { rows } = await fieldBench(await getDevice(), modulus(p), options);
    expect(rows.map(({ operation, variant }) => [operation, variant])).toEqual(
      operations.map(({ name, variant }) => [name, variant]),
    );
  });

  const integers = productVariants.filter((operation) => !isFloat(operation));
  test.each(integers.map((operation): [string, FieldOperation] => [operation.variant, operation]))(
    '%s: the largest limbs, columns and q',
    async (_name, operation) => {
      const m = modulus(p);
      const { limbs, r, encode, decode } = operation.representation(m);
      const pairs = extremes(m).flatMap((x) => extremes(m).map((y) => [y, x] as const));
      const data = Uint32Array.from(pairs.flatMap(([y, x]) => [...encode(y), ...encode(x)]));
      const device = await getDevice();
      // of a thread's two operands, the first is multiplied into the second
      const once = { ...operation, wgsl: (x: string) => (x === 'x1' ? operation.wgsl(x) : '') };
      const { source, name } = fieldChain(m, once, 2);
      const buffers = [{ data: new Uint32Array(ChainConfig.pack({ steps: 1 })), usage: 'uniform' as const }, { data }];
      const [, results] = await runKernel(device, await compileKernel(device, source, name), buffers, [1]);
      for (const [i, [y, x]] of pairs.entries()) {
        const at = (2 * i + 1) * limbs;
        const got = decode([...(results as Uint32Array).subarray(at, at + limbs)]);
        expect(mod(got, p)).toBe(mod(x * y * invert(r, p), p));
        expect(got).toBeLessThan(2n * p);
      }
    },
  );
});

type Fma = (a: number, b: number, c: number) => number;
type Nearest = (magnitude: bigint, unit: bigint) => bigint;

/** To nearest, ties to even. */
const toNearest: Nearest = (magnitude, unit) => {
  const rest = magnitude % unit;
  const odd = (magnitude / unit) % 2n === 1n;
  return 2n * rest > unit || (2n * rest === unit && odd) ? magnitude - rest + unit : magnitude - rest;
};
const towardsZero: Nearest = (magnitude, unit) => magnitude - (magnitude % unit);

/** The exact fma of integers, rounded once to 24 bits. */
const fused =
  (nearest: Nearest): Fma =>
  (...operands) => {
    for (const operand of operands) if (Math.fround(operand) !== operand) throw new Error(`${operand} is not an f32`);
    const [a, b, c] = operands.map(BigInt) as [bigint, bigint, bigint];
    const sum = a * b + c;
    const magnitude = sum < 0n ? -sum : sum;
    const unit = 1n << BigInt(Math.max(0, magnitude.toString(2).length - 24));
    return Number(sum < 0n ? -nearest(magnitude, unit) : nearest(magnitude, unit));
  };

const unfused: Fma = (a, b, c) => Math.fround(Math.fround(a * b) + c);

type Struct = Record<string, number>;
const structOf = (...limbs: number[]): Struct => Object.fromEntries(limbs.map((limb, i) => [`l${i}`, limb]));

/**
 * A function of straight-line WGSL on floats and i32, as JavaScript with an fma of the test's own.
 * Sums of i32 stay below 2^53, and what is done with them takes them modulo 2^32, as an i32 is; the
 * subtractions of floats are exact, or fma throws.
 */
const evaluated = (wgsl: string, name: string, fma: Fma): ((...operands: Struct[]) => Struct) => {
  const script = wgsl
    .replace(/struct Limbs {[^}]*}/, '')
    .replaceAll(
      /fn (\w+)\(([^)]*)\)[^{]*{/g,
      (_, fn: string, list: string) => `function ${fn}(${list.replaceAll(/: \w+/g, '')}) {`,
    )
    .replaceAll(/(\w+) \* (\d+)/g, 'Math.imul($1, $2)')
    .replaceAll(/\b([\d.]+)[uf]\b/g, '$1')
    .replaceAll(/bitcast<(\w+)>/g, '$1_of');
  const i32Of = (value: number): number => new Int32Array(Float32Array.of(value).buffer)[0] as number;
  const f32Of = (bits: number): number => new Float32Array(Int32Array.of(bits).buffer)[0] as number;
  return new Function('fma', 'i32_of', 'f32_of', 'Limbs', 'config', `'use strict';${script}\nreturn ${name};`)(
    fma,
    i32Of,
    f32Of,
    structOf,
    { steps: 1 },
  );
};

describe('the product in floats, whose fma the software adapter does not fuse', () => {
  const exactWith = (fma: Fma): boolean[] => {
    const { probe } = float22;
    if (probe === undefined) throw new Error('it has no probe');
    const run = evaluated(probe.declarations, 'probe', fma);
    return probe.operands.map((operand) => probe.exact(operand, Object.values(run(structOf(...operand)))));
  };

  test('has a probe that is exact where fma is fused, however it rounds, and only there', () => {
    expect(new Set(exactWith(fused(toNearest)))).toEqual(new Set([true]));
    expect(new Set(exactWith(fused(towardsZero)))).toEqual(new Set([true]));
    const wrong = exactWith(unfused).filter((exact) => !exact);
    expect(wrong.length).toBeGreaterThan(200);
  });

  test.each(primes)('is right in its WGSL, evaluated with a fused fma: %s', (_, p) => {
    const m = modulus(p);
    const { declarations, r, encode, decode } = float22.representation(m);
    const random = new Random(1);
    const operands = [...extremes(m), ...Array.from({ length: 8 }, () => random.belowBig(p))];
    for (const nearest of [toNearest, towardsZero]) {
      const product = evaluated(declarations, 'product', fused(nearest));
      for (const x of operands) {
        for (const y of operands) {
          const limbs = Object.values(product(structOf(...encode(x)), structOf(...encode(y))));
          const got = decode(limbs);
          expect(mod(got, p)).toBe(mod(x * y * invert(r, p), p));
          expect(got).toBeLessThan(2n * p);
          expect(limbs).toEqual(encode(got));
        }
      }
    }
  });

  test.each(primes)('compiles: %s', async (_, p) => {
    const { source, name } = fieldChain(modulus(p), float22, 1);
    await expect(compileKernel(await getDevice(), source, name)).resolves.toBeDefined();
  });
});
