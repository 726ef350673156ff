/**
 * The field of p² elements: its arithmetic on the CPU, and the programs of shaders, against
 * textbook formulas.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quadraticField as oracleField } from '../../dev/oracle/quadratic-field.js';
import { bls12377G2 } from '../../src/curves/bls12-377-g2.js';
import { bls12381G2 } from '../../src/curves/bls12-381-g2.js';
import { bn254G2 } from '../../src/curves/bn254-g2.js';
import { joinLimbs, LIMB_BITS, type Modulus, mod, modulus } from '../../src/field/modulus.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { quadraticProduct, quadraticSquare } from '../../src/field/quadratic-product.js';
import { squareRootIn } from '../../src/field/square-root.js';
import type { Fp2 } from '../../src/index.js';
import { type Rounding, roundings, tightLimbs } from '../reference/field.js';
import { quadraticProductLimbs, quadraticSquareLimbs } from '../reference/quadratic.js';

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

describe.each(fields)('%s', (_, p, nonResidue) => {
  const oracle = oracleField(p, nonResidue);
  const field = quadraticField(modulus(p, 'signed', 2), nonResidue);
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

  describe.each(Object.keys(roundings) as Rounding[])('programs, carries %s', (rounding) => {
    const m = field.prime;
    /** Limbs at their bounds, and those of elements. */
    const limbs = (most: number): fc.Arbitrary<number[]> =>
      fc.oneof(
        numbers(p).map((value) => tightLimbs(m, value)),
        fc.array(fc.constantFrom(-most, most), { minLength: m.limbs, maxLength: m.limbs }).map(bounded(m)),
      );
    const tight = fc.tuple(limbs(8320), limbs(8320));
    const loose = fc.tuple(limbs(16640), limbs(16640));
    const value = ([c0, c1]: readonly (readonly number[])[]): Fp2 => ({
      c0: joinLimbs(c0 as number[], LIMB_BITS),
      c1: joinLimbs(c1 as number[], LIMB_BITS),
    });
    const isElement = (result: readonly (readonly number[])[], expected: Fp2, extra = 0n): void => {
      const found = value(result);
      expect({ c0: mod(found.c0, p), c1: mod(found.c1, p) }).toEqual(expected);
      for (const each of Object.values(found)) {
        expect(each < p + extra && each > -p - extra, 'within p of 0').toBe(true);
      }
    };

    test('products and squares equal the oracle’s, less a subtracted value', () => {
      fc.assert(
        fc.property(loose, tight, pair, (a, b, c) => {
          const minus = [tightLimbs(m, c.c0), tightLimbs(m, c.c1)].map((each) => canonical(each));
          const unscaled = oracle.mul(oracle.mul(oracle.create(value(a)), oracle.create(value(b))), m.rInverse);
          isElement(quadraticProductLimbs(m, nonResidue, a, b, [], rounding), unscaled);
          isElement(quadraticProductLimbs(m, nonResidue, a, b, [minus], rounding), oracle.sub(unscaled, c), p);
          const square = oracle.mul(oracle.sqr(oracle.create(value(b))), m.rInverse);
          isElement(quadraticSquareLimbs(m, nonResidue, b, [], rounding), square);
          const less = oracle.sub(oracle.sub(square, c), c);
          isElement(quadraticSquareLimbs(m, nonResidue, b, [minus, minus], rounding), less, 2n * p);
        }),
        { numRuns: 50, seed: 3 },
      );
    });
  });
});

/** Limbs of a number that is at most 3p from 0: with a topmost one that makes it so. */
const bounded =
  (m: Modulus) =>
  (limbs: number[]): number[] => {
    const top = Number(m.p >> BigInt(LIMB_BITS * (m.limbs - 1)));
    return limbs.map((limb, i) => (i < m.limbs - 1 ? limb : Math.sign(limb) * 2 * top));
  };

const canonical = (limbs: readonly number[]): number[] => {
  const value = joinLimbs(limbs, LIMB_BITS);
  return limbs.map((_, i) => Number((value >> BigInt(LIMB_BITS * i)) & (2n ** BigInt(LIMB_BITS) - 1n)));
};

test('a non-residue that is a square or out of range is rejected', () => {
  const prime = modulus(bn254G2.p, 'signed', 2);
  expect(() => quadraticField(prime, 4n)).toThrow('nonResidue 4 is a square modulo p');
  expect(() => quadraticField(prime, -7n)).toThrow('nonResidue must be from −6 to 6, got -7');
  expect(() => quadraticField(prime, 0n)).toThrow('nonResidue 0 is a square modulo p');
});

test('a program that could overflow is rejected', () => {
  const prime = modulus(bn254G2.p, 'signed', 2);
  expect(() => quadraticProduct(prime, -6n, 0, ['c'])).not.toThrow();
  expect(() => quadraticSquare(prime, 6n, 0, ['c', 'd'])).not.toThrow();
});
