/** A vector beside which little else is in memory: transforms with short tables, products, and conversions. */
import { describe, expect, test } from 'vitest';
import { ProductBatch, StreamedVector } from '../../src/fields/cpu/streamed-vector.js';
import { openField } from '../../src/fields/program/open-field.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { hasArithmetic, type WasmArithmetic, wasmArithmetics } from '../../src/wasm/points/kernel.js';

const slice = (): TimeSlice => new TimeSlice(() => undefined);

/** Words of numbers of 32 bytes. */
const wordsOf = (values: readonly bigint[]): Uint32Array<ArrayBuffer> => {
  const words = new Uint32Array(8 * values.length);
  for (const [i, value] of values.entries())
    for (let j = 0; j < 8; j++) words[8 * i + j] = Number((value >> BigInt(32 * j)) & 0xffff_ffffn);
  return words;
};

const numbersIn = (words: Uint32Array): bigint[] =>
  Array.from({ length: words.length / 8 }, (_, i) =>
    Array.from({ length: 8 }).reduceRight<bigint>(
      (sum, __, j) => (sum << 32n) + BigInt(words[8 * i + j] as number),
      0n,
    ),
  );

const power = (base: bigint, exponent: number, p: bigint): bigint => {
  let result = 1n;
  for (let [square, rest] = [base, exponent]; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
};

/** Returns start·(Σ c·x^e) for x = start, start·step, … */
const valuesOf = (
  terms: readonly (readonly [exponent: number, coefficient: bigint])[],
  { start, step, count, p }: { start: bigint; step: bigint; count: number; p: bigint },
): bigint[] => {
  const values = new Array<bigint>(count).fill(0n);
  for (const [exponent, coefficient] of terms) {
    const ratio = power(step, exponent, p);
    let term = (coefficient * power(start, exponent, p)) % p;
    for (let i = 0; i < count; i++) {
      values[i] = ((values[i] as bigint) + term) % p;
      term = (term * ratio) % p;
    }
  }
  return values;
};

const arithmetics = wasmArithmetics.filter(hasArithmetic);

describe.each(['bn254-fr', 'bls12-381-fr'] as const)('of %s', (name) => {
  // parts of twiddles have 2 to 2^11 elements, and blocks twice as many
  test.each(arithmetics)('moves polynomials to a coset in %s', async (arithmetic: WasmArithmetic) => {
    const field = await openField(name);
    const { p, rootOfUnity, twoAdicity } = field;
    for (const log of [0, 1, 2, 3, 4, 5, 13, 15]) {
      const n = 2 ** log;
      const root = power(rootOfUnity, 2 ** (twoAdicity - log), p);
      const coset = 7n ** 90n % p;
      const terms = [0, 1, 2, 3, n - 1, Math.floor(n / 3), Math.floor((5 * n) / 7)].map(
        (exponent, i) => [exponent % n, (p - BigInt(i + 1)) ** 3n % p] as const,
      );
      const vector = await StreamedVector.open(field, n, [arithmetic]);
      const numbers = wordsOf(valuesOf(terms, { start: 1n, step: root, count: n, p }));
      await vector.swap(numbers, slice());
      await vector.moveToCoset(root, coset, slice());
      await vector.leave(numbers, slice());
      expect(numbersIn(numbers), `2^${log}`).toEqual(valuesOf(terms, { start: coset, step: root, count: n, p }));
    }
  });
});

describe('a vector', () => {
  const open = async (length: number) => {
    const field = await openField('bn254-fr');
    const numbers = Array.from({ length }, (_, i) => BigInt(i + 2) ** 77n % field.p);
    return { vector: await StreamedVector.open(field, length), p: field.p, numbers };
  };

  test.each([2, 2 ** 12, 2 ** 13])('of %i elements exchanges, multiplies and subtracts numbers', async (length) => {
    const { vector, p, numbers } = await open(length);
    const words = wordsOf(numbers);
    await vector.swap(words, slice());
    expect(numbersIn(words).every((value) => value === 0n)).toBe(true);
    const others = numbers.toReversed();
    const result = wordsOf(others);
    await vector.multiplyNumbers(result, slice());
    expect(numbersIn(result)).toEqual(others.map((other, i) => (other * (numbers[i] as bigint)) % p));
    await vector.subtractFrom(result, slice());
    const differences = others.map((other, i) => ((other - 1n) * (numbers[i] as bigint) + p) % p);
    expect(numbersIn(result)).toEqual(differences);
    await vector.multiplyBy(wordsOf(others), slice());
    await vector.leave(result, slice());
    expect(numbersIn(result)).toEqual(others.map((other, i) => (other * (numbers[i] as bigint)) % p));
    vector.clear();
    await vector.leave(result, slice());
    expect(result.every((word) => word === 0)).toBe(true);
  });

  test.each([
    ['different elements', (i: number) => i],
    ['one element', () => 3],
    ['elements in pairs', (i: number) => i >> 1],
    ['elements of both lanes', (i: number) => i % 20],
  ])('adds products to %s', async (_, targetOf) => {
    const { vector, p, numbers } = await open(512);
    const words = wordsOf(numbers);
    for (const count of [1, 2, 3, 40, 41]) {
      vector.clearVector();
      const batch = vector.batch();
      const expected = new Array<bigint>(512).fill(0n);
      for (let i = 0; i < count; i++) {
        batch.add(targetOf(i), words, 8 * i, words, 8 * (63 - i));
        const product = (numbers[i] as bigint) * (numbers[63 - i] as bigint);
        expected[targetOf(i)] = ((expected[targetOf(i)] as bigint) + product) % p;
      }
      vector.addProducts(batch, 1n, 'vector');
      expect(batch.count).toBe(0);
      const result = new Uint32Array(words.length);
      await vector.leave(result, slice());
      expect(numbersIn(result)).toEqual(expected);
    }
  });

  test.each([8, 64, 2 ** 15])('of %i elements takes windows: their elements, and their products', async (length) => {
    const { vector, p, numbers } = await open(length);
    const { window } = vector;
    const words = wordsOf(numbers);
    const batch = vector.batch();
    vector.clearWindows();
    for (const [target, i] of [
      [0, 5],
      [window - 1, 6],
      [window, 7],
      [2 * window - 1, 4],
    ] as const) {
      batch.add(target, words, 8 * i, words, 0);
      if (batch.isFull) vector.addProducts(batch, 1n, 'windows');
    }
    vector.addProducts(batch, 1n, 'windows');
    const product = (i: number): bigint => ((numbers[i] as bigint) * (numbers[0] as bigint)) % p;
    vector.clearVector();
    vector.putWindow(0);
    vector.multiplyWindows(window);
    const seconds = new Uint32Array(words.length);
    vector.leaveWindow(window, seconds);
    await vector.leave(words, slice());
    const expected = new Array<bigint>(length).fill(0n);
    const sums = [new Array<bigint>(window).fill(0n), new Array<bigint>(window).fill(0n)] as const;
    const add = (side: 0 | 1, element: number, i: number): void => {
      sums[side][element] = ((sums[side][element] as bigint) + product(i)) % p;
    };
    add(0, 0, 5);
    add(0, window - 1, 6);
    add(1, 0, 7);
    add(1, window - 1, 4);
    for (let i = 0; i < window; i++) {
      expected[i] = sums[0][i] as bigint;
      expected[window + i] = ((sums[0][i] as bigint) * (sums[1][i] as bigint)) % p;
    }
    expect(numbersIn(words)).toEqual(expected);
    expect(numbersIn(seconds).slice(window, 2 * window)).toEqual(sums[1]);
  });
});

test('a batch is full after as many products as it has room for, and overwrites them', () => {
  const batch = new ProductBatch(12, 8);
  const words = new Uint32Array(16).fill(9);
  let count = 0;
  for (; !batch.isFull; count++) batch.add(0, words, 0, words, 8);
  expect(count).toBe(12);
  batch.clear();
  expect(batch.words.every((word) => word === 0)).toBe(true);
});
