import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fromMontgomery,
  invert,
  type Modulus,
  mod,
  modulus,
  readWords,
  toMontgomery,
  writeWords,
} from '../src/field/modulus.js';
import { fieldView } from '../src/field/wgsl.js';
import { renderShader } from '../src/shaders.js';
import { fieldInverse, fieldMul } from '../src/twins/field.js';
import checkTemplate from './support/field-check.wgsl?raw';
import { getDevice } from './support/gpu.js';
import { compileKernel, runKernel } from './support/run-kernel.js';

// noble is the source of the primes, so that a typing mistake of ours cannot hide
const fields: Record<string, bigint> = {
  'BN254 base': bn254.fields.Fp.ORDER,
  'BLS12-381 base': bls12_381.fields.Fp.ORDER,
};

/** 0, 1, p−1 and their neighbours, and numbers around every limb and word boundary. */
const edges = (m: Modulus): bigint[] => {
  const values = [0n, 1n, 2n, m.p - 1n, m.p - 2n, (m.p - 1n) / 2n, (m.p + 1n) / 2n, m.r, m.r2];
  for (const width of [13, 15, 32]) {
    for (let bit = width; bit < m.bits; bit += width) {
      const power = 1n << BigInt(bit);
      values.push(power - 1n, power, power + 1n, m.p - power);
    }
  }
  return values.map((value) => mod(value, m.p));
};

const randoms = (m: Modulus, count: number): bigint[] =>
  fc.sample(fc.bigInt({ min: 0n, max: m.p - 1n }), { numRuns: count, seed: 254 });

/** What each operation must give, said in BigInt on plain numbers. */
const operations: Record<string, { expression: string; expected: (m: Modulus, a: bigint, b: bigint) => bigint }> = {
  product: { expression: 'field_mul(a, b)', expected: (m, a, b) => mod(a * b * m.rInverse, m.p) },
  square: { expression: 'field_square(a)', expected: (m, a) => mod(a * a * m.rInverse, m.p) },
  sum: { expression: 'field_add(a, b)', expected: (m, a, b) => mod(a + b, m.p) },
  difference: { expression: 'field_sub(a, b)', expected: (m, a, b) => mod(a - b, m.p) },
  negative: { expression: 'field_neg(a)', expected: (m, a) => mod(-a, m.p) },
  packed_negative: { expression: 'field_unpack(packed_neg(left[id.x]))', expected: (m, a) => mod(-a, m.p) },
  double: { expression: 'field_double(a)', expected: (m, a) => mod(2n * a, m.p) },
  inverse: { expression: 'field_inverse(a)', expected: (m, a) => toMontgomery(m, invert(fromMontgomery(m, a), m.p)) },
  montgomery_in: { expression: 'field_mul(a, field_r_squared())', expected: (m, a) => toMontgomery(m, a) },
  montgomery_out: { expression: 'field_mul(a, field_plain_one())', expected: (m, a) => fromMontgomery(m, a) },
  repack: { expression: 'a', expected: (_, a) => a },
};

describe.each(Object.entries(fields))('%s field', (_, p) => {
  const m = modulus(p);
  const edge = edges(m);
  const pairs = [
    ...edge.flatMap((a, i) => [0, 1, 5, 11].map((step) => [a, edge[(i + step) % edge.length] as bigint] as const)),
    ...randoms(m, 600).map((a, i, all) => [a, all[(i * 7 + 1) % all.length] as bigint] as const),
  ];

  test('CPU twin: product and inverse, with every 32-bit bound asserted', () => {
    const value = fc.oneof(fc.constantFrom(...edge), fc.bigInt({ min: 0n, max: p - 1n }));
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(fieldMul(m, a, b)).toBe(mod(a * b * m.rInverse, p));
        const inverse = fieldInverse(m, toMontgomery(m, a));
        expect(mod(fromMontgomery(m, inverse) * a, p)).toBe(a === 0n ? 0n : 1n);
      }),
      { numRuns: 400, seed: 13 },
    );
  });

  test.each(Object.entries(operations))('GPU: %s', async (operation, { expression, expected }) => {
    const device = await getDevice();
    const code = renderShader(checkTemplate, { ...fieldView(m), operation, expression });
    const pipeline = await compileKernel(device, code, operation);
    const [left, right] = [new Uint32Array(pairs.length * m.words), new Uint32Array(pairs.length * m.words)];
    pairs.forEach(([a, b], i) => {
      writeWords(left, i * m.words, m.words, a);
      writeWords(right, i * m.words, m.words, b);
    });
    const [, , result] = await runKernel(
      device,
      pipeline,
      [{ data: left }, { data: right }, { data: new Uint32Array(left.length) }],
      [Math.ceil(pairs.length / 64)],
    );
    pairs.forEach(([a, b], i) => {
      const got = readWords(result as Uint32Array, i * m.words, m.words);
      expect(got, `${operation}(0x${a.toString(16)}, 0x${b.toString(16)})`).toBe(expected(m, a, b));
    });
  });
});
