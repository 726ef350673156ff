/**
 * Multiples of scalars modulo the order, in words, against BigInt: every order that a curve may
 * have.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CurveContext } from '../../src/curves/curve.js';
import { addMultiples, FACTOR_END } from '../../src/curves/scalar-field.js';
import { readWords, writeWords } from '../../src/field/modulus.js';

const WORDS = 8;
const toWords = (values: readonly bigint[]): Uint32Array => {
  const words = new Uint32Array(WORDS * values.length);
  for (const [i, value] of values.entries()) writeWords(words, i * WORDS, WORDS, value);
  return words;
};
const fromWords = (words: Uint32Array): bigint[] =>
  Array.from({ length: words.length / WORDS }, (_, i) => readWords(words, i * WORDS, WORDS));

const withOrder = (order: bigint): CurveContext => ({ order, scalarBytes: 32 }) as CurveContext;
const limit = 2n ** 256n;

/** Orders of 2 to 256 bits. */
const orders = fc
  .integer({ min: 2, max: 256 })
  .chain((bits) => fc.bigInt({ min: 2n ** BigInt(bits - 1), max: 2n ** BigInt(bits) - 1n }))
  .filter((order) => order >= 3n);
const factors = fc.integer({ min: 1, max: FACTOR_END - 1 });

/** @returns the sums, and how often the order was taken off each */
const add = (order: bigint, sums: readonly bigint[], scalars: readonly bigint[], factor: number) => {
  const [words, wraps] = [toWords(sums), toWords(sums.map(() => 0n))];
  addMultiples(withOrder(order), words, toWords(scalars), factor, wraps);
  const alone = toWords(sums);
  addMultiples(withOrder(order), alone, toWords(scalars), factor, null);
  expect(alone).toEqual(words);
  return { sums: fromWords(words), wraps: fromWords(wraps) };
};

const expectRight = (order: bigint, sums: readonly bigint[], scalars: readonly bigint[], factor: number): void => {
  const whole = sums.map((sum, i) => sum + BigInt(factor) * ((scalars[i] as bigint) % order));
  expect(add(order, sums, scalars, factor)).toEqual({
    sums: whole.map((value) => value % order),
    wraps: whole.map((value) => value / order),
  });
};

test('multiples of any scalar, added to any sum, equal BigInt’s', () => {
  const values = fc.array(fc.tuple(fc.bigInt({ min: 0n, max: limit - 1n }), fc.bigInt({ min: 0n, max: limit })), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(orders, factors, values, (order, factor, drawn) => {
      expectRight(
        order,
        drawn.map(([, sum]) => sum % order),
        drawn.map(([scalar]) => scalar),
        factor,
      );
    }),
    { numRuns: 1000 },
  );
});

test('multiples of the order next to the result are right', () => {
  fc.assert(
    fc.property(orders, factors, fc.nat(), fc.integer({ min: -2, max: 2 }), (order, factor, times, more) => {
      // the least scalars of which the multiple is not below so many times the order
      const scalar = (BigInt(times % factor) * order) / BigInt(factor) + BigInt(more);
      if (scalar < 0n || scalar >= limit) return;
      const rest = order - ((BigInt(factor) * (scalar % order)) % order);
      // with the sum it is a multiple, or one off
      for (const sum of [0n, rest % order, rest - 1n, (rest + 1n) % order]) {
        expectRight(order, [sum], [scalar], factor);
      }
    }),
    { numRuns: 2000 },
  );
});

test('multiples of the smallest and largest scalars are right', () => {
  for (const order of [3n, 2n ** 61n - 1n, 2n ** 128n, 2n ** 255n - 19n, limit - 1n, limit - 189n]) {
    const scalars = [0n, 1n, order - 1n, order, order + 1n, 2n * order - 1n, limit - 1n].map((each) => each % limit);
    for (const factor of [1, 2, FACTOR_END / 2, FACTOR_END - 1]) {
      for (const sum of [0n, 1n, order - 1n]) {
        expectRight(
          order,
          scalars.map(() => sum),
          scalars,
          factor,
        );
      }
    }
  }
});

test('counts beyond a word are right', () => {
  const order = 5n;
  const wraps = toWords([2n ** 32n - 1n]);
  addMultiples(withOrder(order), toWords([0n]), toWords([4n]), 5, wraps);
  expect(fromWords(wraps)).toEqual([2n ** 32n + 3n]);
});
