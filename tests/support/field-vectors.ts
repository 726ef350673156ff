/** Tests of vectors of field elements on any backend, against BigInts and noble's transforms. */
import { FFT, rootsOfUnity } from '@noble/curves/abstract/fft.js';
import { bn254 as nobleBn254 } from '@noble/curves/bn254.js';
import { describe, expect, test } from 'vitest';
import type { FieldEngine, FieldOrder, FieldRunRecord, FieldVector } from '../../src/fields.js';

const { Fr } = nobleBn254.fields;
const p = Fr.ORDER;

const power = (base: bigint, exponent: bigint): bigint => Fr.pow(base, exponent);

/** A generator of numbers that are the same in each run. */
const numbers = (seed: bigint) => {
  let state = seed;
  return (): bigint => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 256n;
    return (state * state + 17n) % p;
  };
};

const edges = [0n, 1n, p - 1n, (p - 1n) / 2n, (p + 1n) / 2n, 2n ** 51n - 1n, 2n ** 253n];

const vectorOf = (n: number, seed = 1n): bigint[] => {
  const next = numbers(seed);
  return Array.from({ length: n }, (_, i) => (i % 3 === 0 ? (edges[i % edges.length] as bigint) : next()));
};

const read = async (fr: FieldEngine, vector: FieldVector): Promise<bigint[]> => {
  const bytes = await fr.read(vector);
  return Array.from({ length: vector.length }, (_, i) =>
    bytes.subarray(32 * i, 32 * i + 32).reduceRight((sum, byte) => (sum << 8n) + BigInt(byte), 0n),
  );
};

/** The root of unity of snarkjs: 5 is the least number that is no square. */
const rootOf = (n: number): bigint => power(5n, (p - 1n) / BigInt(n));

const evaluate = (coefficients: readonly bigint[], x: bigint): bigint =>
  coefficients.reduceRight((sum, c) => (sum * x + c) % p, 0n);

const reversed = <Item>(items: readonly Item[]): Item[] => {
  const bits = Math.log2(items.length);
  return items.map(
    (_, i) =>
      items[Array.from({ length: bits }, (_, j) => ((i >> j) & 1) << (bits - 1 - j)).reduce((a, b) => a | b, 0)],
  ) as Item[];
};

const inOrder = (items: bigint[], order: FieldOrder): bigint[] => (order === 'natural' ? items : reversed(items));

/**
 * Declares the tests of one backend.
 *
 * @param open makes an engine of the scalar field of BN254
 * @param expectedRun fields of every `lastRun`
 */
export const describeVectors = (
  name: string,
  open: () => Promise<FieldEngine>,
  expectedRun: Partial<FieldRunRecord>,
): void => {
  describe(`vectors in ${name}`, () => {
    test.each([1, 2, 3, 7, 64, 129, 1000])('of %i elements are added, multiplied, scaled', async (n) => {
      using fr = await open();
      const [x, y, z] = [vectorOf(n, 1n), vectorOf(n, 2n).reverse(), vectorOf(n, 3n)];
      const [a, b, c] = [await fr.load(x), await fr.load(y), await fr.load(z)];
      const factor = p - 5n;
      const made = await fr.run((ops) => ({
        add: ops.keep(ops.add(a, b)),
        subtract: ops.keep(ops.subtract(a, b)),
        multiply: ops.keep(ops.multiply(a, b)),
        multiplyAdd: ops.keep(ops.multiplyAdd(a, b, c)),
        multiplySubtract: ops.keep(ops.multiplySubtract(a, b, c)),
        negate: ops.keep(ops.negate(a)),
        scale: ops.keep(ops.scale(a, factor)),
        powers: ops.keep(ops.scalePowers(a, 7n, { factor: 3n })),
        combination: ops.keep(
          ops.linearCombination([
            [2n, a],
            [factor, ops.slice(b, 0, 1)],
            [1n, c],
            [p - 1n, a],
          ]),
        ),
        square: ops.keep(ops.multiply(a, a)),
      }));
      const at = (of: (x: bigint, y: bigint, z: bigint, i: number) => bigint): bigint[] =>
        x.map((value, i) => Fr.create(of(value, y[i] as bigint, z[i] as bigint, i)));
      expect(await read(fr, made.add)).toEqual(at((x, y) => x + y));
      expect(await read(fr, made.subtract)).toEqual(at((x, y) => x - y));
      expect(await read(fr, made.multiply)).toEqual(at((x, y) => x * y));
      expect(await read(fr, made.multiplyAdd)).toEqual(at((x, y, z) => x * y + z));
      expect(await read(fr, made.multiplySubtract)).toEqual(at((x, y, z) => x * y - z));
      expect(await read(fr, made.negate)).toEqual(at((x) => -x));
      expect(await read(fr, made.scale)).toEqual(at((x) => factor * x));
      expect(await read(fr, made.powers)).toEqual(at((x, _, __, i) => 3n * power(7n, BigInt(i)) * x));
      expect(await read(fr, made.combination)).toEqual(at((x, y, z, i) => x + (i === 0 ? factor * y : 0n) + z));
      expect(await read(fr, made.square)).toEqual(at((x) => x * x));
      expect(fr.lastRun).toMatchObject({ ...expectedRun, operations: 11 });
    });

    test.each([1, 2, 5, 64, 65, 129, 1000, 4097])(
      'of %i elements are inverted, multiplied up, evaluated',
      async (n) => {
        using fr = await open();
        const x = vectorOf(n);
        const a = await fr.load(x);
        const point = p - 3n;
        const made = await fr.run((ops) => ({
          invert: ops.keep(ops.invert(a)),
          prefix: ops.keep(
            ops.prefixProduct(
              ops.linearCombination([
                [1n, a],
                [1n, a],
              ]),
            ),
          ),
          value: ops.keep(ops.evaluate(a, point)),
          pad: ops.keep(ops.pad(a, n + 3)),
          picked: ops.keep(ops.gather(a, [n - 1, 0, 0])),
          slice: ops.keep(ops.slice(a, Math.floor(n / 2))),
          inside: ops.keep(ops.pad(a, n + 5, 2)),
        }));
        if (n > 1) {
          const quotients = await fr.run((ops) => [point, 0n, 1n].map((at) => ops.keep(ops.divideByLinear(a, at))));
          for (const [i, at] of [point, 0n, 1n].entries()) {
            const expected = x.map(() => 0n);
            for (let k = n - 1; k > 0; k--) expected[k - 1] = Fr.add(x[k] as bigint, Fr.mul(at, expected[k] as bigint));
            expect(await read(fr, quotients[i] as FieldVector)).toEqual(expected.slice(0, n - 1));
          }
        }
        expect(await read(fr, made.inside)).toEqual([0n, 0n, ...x, 0n, 0n, 0n]);
        expect(await read(fr, made.invert)).toEqual(x.map((value) => (value === 0n ? 0n : Fr.inv(value))));
        let product = 1n;
        const prefix = x.map((value) => {
          const before = product;
          product = Fr.mul(product, Fr.create(2n * value));
          return before;
        });
        expect(await read(fr, made.prefix)).toEqual(prefix);
        expect(await read(fr, made.value)).toEqual([evaluate(x, point)]);
        expect(await read(fr, made.pad)).toEqual([...x, 0n, 0n, 0n]);
        expect(await read(fr, made.picked)).toEqual([x[n - 1], x[0], x[0]]);
        expect(await read(fr, made.slice)).toEqual(x.slice(Math.floor(n / 2)));
      },
    );

    test('without zeros, products of all elements before each are right', async () => {
      using fr = await open();
      for (const n of [63, 64, 65, 200, 1025]) {
        const x = vectorOf(n).map((value) => (value === 0n ? 9n : value));
        const a = await fr.load(x);
        const made = await fr.run((ops) => ops.keep(ops.prefixProduct(a)));
        let product = 1n;
        const expected = x.map((value) => {
          const before = product;
          product = Fr.mul(product, value);
          return before;
        });
        expect(await read(fr, made)).toEqual(expected);
      }
    });

    test.each([0, 1, 2, 3, 4, 7, 12])('transforms of 2^%i elements equal noble’s, in all orders', async (bits) => {
      using fr = await open();
      const n = 2 ** bits;
      const x = vectorOf(n);
      const root = rootOf(n);
      const fft = FFT(rootsOfUnity(Fr, 5n), Fr);
      for (const coset of bits < 8 ? [1n, 7n] : [1n]) {
        const shifted = x.map((value, i) => Fr.mul(value, power(coset, BigInt(i))));
        const values =
          bits < 8 ? x.map((_, i) => evaluate(shifted, power(root, BigInt(i)))) : (fft.direct(shifted) as bigint[]);
        for (const from of ['natural', 'reversed'] as const) {
          for (const to of ['natural', 'reversed'] as const) {
            const [coefficients, evaluations] = [await fr.load(inOrder(x, from)), await fr.load(inOrder(values, from))];
            const made = await fr.run((ops) => ({
              there: ops.keep(ops.ntt(coefficients, { from, to, coset })),
              back: ops.keep(ops.intt(evaluations, { from, to, coset })),
            }));
            expect(await read(fr, made.there)).toEqual(inOrder(values, to));
            expect(await read(fr, made.back)).toEqual(inOrder(x, to));
            for (const each of [coefficients, evaluations, made.there, made.back]) each.destroy();
          }
        }
      }
      fr.trim();
      expect(fr.memory.used).toBe(0);
    });

    test('matrices times vectors are right, with rows of any length', async () => {
      using fr = await open();
      const [rows, columns] = [40, 30];
      const next = numbers(5n);
      const entries = Array.from({ length: 500 }, (_, i) => ({
        row: i < 300 ? 17 : Number(next() % 40n),
        column: Number(next() % 30n),
        value: i % 2 === 0 ? (edges[i % edges.length] as bigint) : next(),
      }));
      const x = vectorOf(columns);
      for (const count of [0, 1, 2, 301, 500]) {
        const some = entries.slice(0, count);
        const matrix = await fr.loadMatrix({
          ...{ rows, columns, row: some.map(({ row }) => row), column: some.map(({ column }) => column) },
          values: some.map(({ value }) => value),
        });
        const a = await fr.load(x);
        const made = await fr.run((ops) => ops.keep(ops.apply(matrix, a)));
        const expected = Array.from({ length: rows }, (_, row) =>
          some.reduce(
            (sum, each) => (each.row === row ? Fr.add(sum, Fr.mul(each.value, x[each.column] as bigint)) : sum),
            0n,
          ),
        );
        expect(await read(fr, made)).toEqual(expected);
        for (const each of [matrix, a, made]) each.destroy();
      }
      expect(fr.memory.used).toBe(0);
    });

    test('numbers are read as they were loaded, in every encoding', async () => {
      using fr = await open();
      const x = vectorOf(300);
      for (const encoding of ['le', 'be', 'le-montgomery'] as const) {
        const bytes = new Uint8Array(300 * 32);
        for (const [i, value] of x.entries()) {
          const own = encoding === 'le-montgomery' ? (value << 256n) % p : value;
          for (let k = 0; k < 32; k++)
            bytes[32 * i + (encoding === 'be' ? 31 - k : k)] = Number((own >> BigInt(8 * k)) & 255n);
        }
        const a = await fr.load(bytes, { encoding });
        expect(await read(fr, a)).toEqual(x);
        expect(await fr.read(a, { encoding })).toEqual(bytes);
      }
    });
  });
};
