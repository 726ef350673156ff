/** Pairings, and the field of their values, against noble's. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { groupOrder } from '../../dev/oracle/known-bases.js';
import type { AffinePoint, Fp2 } from '../../src/api/values.js';
import { conjugate, Extension, type Fp12 } from '../../src/pairing/extension.js';
import {
  isProductOne,
  type PairingCurveName,
  type PointPair,
  pairingCurve,
  pairingProduct,
} from '../../src/pairing/pairing.js';
import { passFrames } from '../support/time.js';

const nobles = { bn254, 'bls12-381': bls12_381 } as const;

const infinity1: AffinePoint = { x: 0n, y: 0n, infinity: true };
const infinity2: AffinePoint<Fp2> = { x: { c0: 0n, c1: 0n }, y: { c0: 0n, c1: 0n }, infinity: true };

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(Object.keys(nobles) as PairingCurveName[])('%s', (name) => {
  const noble = nobles[name];
  const { Fp12 } = noble.fields;
  const { field } = pairingCurve(name);
  const { p } = field;
  const r = groupOrder(noble.G1);
  const least = (value: bigint): bigint => ((value % p) + p) % p;

  /** Returns multiples of the generators. */
  const g1 = (k: bigint): AffinePoint =>
    k % r === 0n ? infinity1 : { ...noble.G1.Point.BASE.multiply(k % r).toAffine(), infinity: false };
  const g2 = (k: bigint): AffinePoint<Fp2> =>
    k % r === 0n ? infinity2 : { ...noble.G2.Point.BASE.multiply(k % r).toAffine(), infinity: false };
  const paired = (...factors: readonly (readonly [bigint, bigint])[]): PointPair[] =>
    factors.map(([a, b]) => [g1(a), g2(b)] as const);

  /** Converts an element to noble's tower: pairs of triples of pairs. */
  const toNoble = (value: Fp12) => {
    const at = (i: number) => noble.fields.Fp2.fromBigTuple([least(value[i]?.c0 ?? 0n), least(value[i]?.c1 ?? 0n)]);
    const half = (first: number) => ({ c0: at(first), c1: at(first + 2), c2: at(first + 4) });
    return { c0: half(0), c1: half(1) };
  };
  const expectSame = (ours: Fp12, theirs: ReturnType<typeof toNoble>): void => {
    expect(Fp12.eql(toNoble(ours), theirs)).toBe(true);
  };

  const coefficient = fc.oneof(fc.constantFrom(0n, 1n, -1n, p - 1n, 1n - p), fc.bigInt({ min: 1n - p, max: p - 1n }));
  const element = fc.array(fc.record({ c0: coefficient, c1: coefficient }), { minLength: 6, maxLength: 6 });

  test('the field has the prime of the curve, and computes as noble does', () => {
    expect(p).toBe(noble.fields.Fp.ORDER);
    fc.assert(
      fc.property(element, element, (a, b) => {
        const [x, y] = [toNoble(a), toNoble(b)];
        expectSame(field.product(a, b), Fp12.mul(x, y));
        expectSame(field.square(a), Fp12.sqr(x));
        expectSame(conjugate(a), Fp12.conjugate(x));
        for (const times of [1, 2, 3]) expectSame(field.frobenius(a, times), Fp12.frobeniusMap(x, times));
        if (!Fp12.is0(x)) expectSame(field.inverse(a), Fp12.inv(x));
        expect(field.isOne(a)).toBe(Fp12.eql(x, Fp12.ONE));
        for (const value of field.product(a, b).flatMap(({ c0, c1 }) => [c0, c1]))
          expect(value > -p && value < p).toBe(true);
      }),
      { numRuns: 30, seed: 37 },
    );
    const zero = Array.from({ length: 6 }, () => ({ c0: 0n, c1: 0n }));
    expectSame(field.inverse(zero), Fp12.ZERO);
    expect([field.isOne(zero), field.isOne([{ c0: 1n - p, c1: p }, ...zero.slice(1)])]).toEqual([false, true]);
  });

  const factor = fc.oneof(fc.constantFrom(0n, 1n, 2n, 3n, r - 1n, r - 2n, r + 1n), fc.bigInt({ min: 1n, max: r - 1n }));

  test('products of pairings are those of noble, also with infinity', async () => {
    const pairs = fc.array(fc.tuple(factor, factor), { maxLength: 4 });
    const ofNoble = (a: bigint, b: bigint) =>
      a % r === 0n || b % r === 0n
        ? Fp12.ONE
        : noble.pairing(noble.G1.Point.BASE.multiply(a % r), noble.G2.Point.BASE.multiply(b % r));
    await fc.assert(
      fc.asyncProperty(pairs, async (factors) => {
        const theirs = factors.map(([a, b]) => ofNoble(a, b)).reduce((all, each) => Fp12.mul(all, each), Fp12.ONE);
        const ours = await pairingProduct(name, paired(...factors), undefined);
        expectSame(ours, theirs);
        expect(await isProductOne(name, paired(...factors), undefined)).toBe(Fp12.eql(theirs, Fp12.ONE));
      }),
      {
        numRuns: 8,
        seed: 37,
        examples: [
          [[]],
          [[[1n, 1n]]],
          [
            [
              [0n, 5n],
              [5n, 0n],
            ],
          ],
          [
            [
              [1n, 1n],
              [r - 1n, 1n],
            ],
          ],
        ],
      },
    );
  });

  test('they are bilinear, of order r and not 1', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 2n, max: r - 1n }), fc.bigInt({ min: 2n, max: r - 1n }), async (a, b) => {
        const base = toNoble(await pairingProduct(name, paired([1n, 1n]), undefined));
        expectSame(await pairingProduct(name, paired([a, b]), undefined), Fp12.pow(base, (a * b) % r));
        expect(Fp12.eql(Fp12.pow(base, r), Fp12.ONE)).toBe(true);
        expect(Fp12.eql(base, Fp12.ONE)).toBe(false);
        const ab = (a * b) % r;
        const right = [
          [a, b],
          [r - ab, 1n],
        ] as const;
        expect(await isProductOne(name, paired(...right), undefined)).toBe(true);
        expect(await isProductOne(name, paired([a, b], [r - ab, 2n]), undefined)).toBe(false);
        expect(await isProductOne(name, paired([a, b], [1n, r - a], [1n, r - b]), undefined)).toBe(
          (ab - a - b) % r === 0n,
        );
      }),
      { numRuns: 3, seed: 37 },
    );
  });

  test('the value does not depend on how coordinates are reduced', async () => {
    const [P, Q] = [g1(5n), g2(7n)];
    const shifted = { ...P, x: P.x + p, y: P.y - 3n * p };
    const moved = { ...Q, x: { c0: Q.x.c0 - p, c1: Q.x.c1 + p } };
    const value = toNoble(await pairingProduct(name, [[P, Q]], undefined));
    expectSame(await pairingProduct(name, [[shifted, moved]], undefined), value);
  });

  test('the event loop runs between steps of a few products', async () => {
    passFrames();
    let [now, most, pauses] = [0, 0, 0];
    for (const method of ['product', 'square'] as const) {
      const original = Extension.prototype[method] as (...given: Fp12[]) => Fp12;
      vi.spyOn(Extension.prototype, method).mockImplementation(function (this: Extension, ...given: Fp12[]) {
        most = Math.max(most, ++now);
        return original.apply(this, given);
      });
    }
    const signal = {
      get aborted() {
        now = 0;
        pauses++;
        return false;
      },
    };
    await pairingProduct(name, paired([1n, 1n], [2n, 3n], [4n, 5n], [6n, 7n]), signal as AbortSignal);
    // some 25 µs each, or 100 on a slow phone
    expect(most).toBeLessThan(40);
    expect(pauses).toBeGreaterThan(200);
  });

  test('an abort ends the computation', async () => {
    passFrames();
    let looks = 0;
    const signal = {
      reason: 'enough',
      get aborted() {
        return ++looks === 100;
      },
    };
    const aborted = pairingProduct(name, paired([1n, 1n]), signal as AbortSignal);
    await expect(aborted).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    expect(looks).toBe(100);
  });
});
