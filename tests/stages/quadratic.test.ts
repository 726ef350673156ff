/**
 * The field of p² elements: its arithmetic on the CPU and in shaders, against textbook formulas.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quadraticField as oracleField } from '../../dev/oracle/curves.js';
import { bls12377G2, bls12381G2, bn254G2 } from '../../src/curves/pairing-friendly.js';
import { elementFromMontgomery, elementToMontgomery, readElement, writeElement } from '../../src/field/field.js';
import { modulus } from '../../src/field/modulus.js';
import { squareRootIn } from '../../src/field/powers.js';
import { quadraticField } from '../../src/field/quadratic.js';
import type { Fp2 } from '../../src/index.js';
import { renderShader } from '../../src/shaders/template.js';
import checkTemplate from '../support/field-check.wgsl?template';
import { getDevice } from '../support/gpu.js';
import { compileKernel, runKernel } from '../support/run-kernel.js';

/** 2^255 − 19, of which 2 is no square: the largest numbers that are. */
const p25519 = 2n ** 255n - 19n;
const fields = [
  ...[bn254G2, bls12381G2, bls12377G2].map(({ name, p, nonResidue }) => [name, p, nonResidue as bigint] as const),
  ['p = 2^255 − 19, u² = 2', p25519, 2n] as const,
  ['p = 2^255 − 19, u² = 6', p25519, 6n] as const,
];

const edges = (p: bigint): bigint[] => [0n, 1n, 2n, p - 1n, p - 2n, (p - 1n) / 2n, (p + 1n) / 2n];
const numbers = (p: bigint) => fc.oneof(fc.constantFrom(...edges(p)), fc.bigInt({ min: 0n, max: p - 1n }));
const pairs = (p: bigint) => fc.record({ c0: numbers(p), c1: numbers(p) });

type Oracle = ReturnType<typeof oracleField>;

/** Operations of shaders, and the result of each on plain numbers. */
const operations: Readonly<Record<string, readonly [expression: string, of: (f: Oracle, a: Fp2, b: Fp2) => Fp2]>> = {
  product: ['field_canonical(field_mul(loose, tight))', (f, a, b) => f.mul(a, b)],
  product_minus: ['field_canonical(field_mul_minus(loose, tight, a))', (f, a, b) => f.sub(f.mul(a, b), a)],
  square: ['field_canonical(field_square(tight))', (f, _, b) => f.sqr(b)],
  square_minus: ['field_canonical(field_square_minus(tight, a, b))', (f, a, b) => f.sub(f.sub(f.sqr(b), a), b)],
  product_of_differences: [
    'field_canonical(field_mul(canonical_minus(a, b), field_tighten(field_plus(field_tighten(loose), tight))))',
    (f, a, b) => f.mul(f.sub(a, b), f.add(a, b)),
  ],
  inverse: ['field_canonical(field_inverse(tight))', (f, _, b) => (f.is0(b) ? f.ZERO : f.inv(b))],
};

describe.each(fields)('%s', (_, p, nonResidue) => {
  const oracle = oracleField(p, nonResidue);
  const field = quadraticField(modulus(p), nonResidue);
  const pair = pairs(p);

  test('sums, products and inverses equal the oracle’s', () => {
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        expect(field.reduced(field.sum(a, b))).toEqual(oracle.add(a, b));
        expect(field.reduced(field.difference(a, b))).toEqual(oracle.sub(a, b));
        expect(field.reduced(field.product(a, b))).toEqual(oracle.mul(a, b));
        expect(field.reduced(field.multiple(a, -7n))).toEqual(oracle.mul(a, -7n));
        expect(field.isZero(field.difference(a, b))).toBe(oracle.eql(a, b));
        if (!oracle.is0(a)) expect(oracle.mul(a, field.inverse(a) as Fp2)).toEqual(oracle.ONE);
      }),
      { numRuns: 200, seed: 1 },
    );
    expect(field.inverse(field.zero)).toEqual(field.zero);
  });

  test('squares have roots, and other elements have none', () => {
    let squares = 0;
    fc.assert(
      fc.property(pair, (a) => {
        const root = squareRootIn(field, oracle.mul(a, a)) as Fp2;
        expect(oracle.mul(root, root)).toEqual(oracle.mul(a, a));
        const own = squareRootIn(field, a) as Fp2 | null;
        const isSquare = oracle.is0(a) || oracle.eql(oracle.pow(a, (p * p - 1n) / 2n), oracle.ONE);
        expect(own !== null).toBe(isSquare);
        if (own !== null) expect(oracle.mul(own, own)).toEqual(a);
        if (isSquare) squares++;
      }),
      { numRuns: 60, seed: 2 },
    );
    expect(squares).toBeGreaterThan(10);
    expect(squares).toBeLessThan(55);
  });

  test.each(Object.entries(operations))('on the GPU: %s', { tags: 'long' }, async (operation, [expression, of]) => {
    const drawn = fc.sample(fc.tuple(pair, pair), { numRuns: 300, seed: 4 });
    const [left, right, out] = [0, 1, 2].map(() => new Uint32Array(drawn.length * field.words)) as [
      Uint32Array<ArrayBuffer>,
      Uint32Array<ArrayBuffer>,
      Uint32Array<ArrayBuffer>,
    ];
    for (const [i, [a, b]] of drawn.entries()) {
      writeElement(field, left, i * field.words, elementToMontgomery(field, a));
      writeElement(field, right, i * field.words, elementToMontgomery(field, b));
    }
    const device = await getDevice();
    const code = renderShader(checkTemplate, { ...field.view(), operation, expression }, field.partials);
    const [, , result] = await runKernel(
      device,
      await compileKernel(device, code, operation),
      [{ data: left }, { data: right }, { data: out }],
      [Math.ceil(drawn.length / 64)],
    );
    for (const [i, [a, b]] of drawn.entries()) {
      const found = elementFromMontgomery(field, readElement(field, result as Uint32Array, i * field.words));
      expect(found, `${operation}, pair ${i}`).toEqual(of(oracle, a, b));
    }
  });
});

test('a non-residue that is a square or out of range is rejected', () => {
  const prime = modulus(bn254G2.p);
  expect(() => quadraticField(prime, 4n)).toThrow('nonResidue 4 is a square modulo p');
  expect(() => quadraticField(prime, -7n)).toThrow('nonResidue must be from −6 to 6, got -7');
  expect(() => quadraticField(prime, 0n)).toThrow('nonResidue 0 is a square modulo p');
});
