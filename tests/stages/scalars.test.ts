/** Scalars: elements of vectors as scalars of a sum, and their digest, word for word. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { type FieldProduct, modulus, toMontgomery, writeWords } from '../../src/field/modulus.js';
import { THREADS } from '../../src/fields/gpu/element.js';
import { packScalarsConfig, SCALAR_WORDS, scalarsKernel } from '../../src/fields/gpu/scalars.js';
import { Runner } from '../../src/gpu/runner.js';
import { LANES, sumOfLanes } from '../../src/shaders/hash-chain.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { scalarsOf } from '../reference/scalars.js';
import { getDevice } from '../support/gpu.js';

let runner: Runner;
beforeAll(async () => {
  runner = new Runner(await getDevice(), Number.POSITIVE_INFINITY);
});
afterAll(() => runner.destroy());

const primes = { 'BN254, 254 bits': bn254.order, '64 bits': 2n ** 64n - 2n ** 32n + 1n };
const products: readonly FieldProduct[] = ['unsigned', 'dot4', 'fma'];
const all = Object.keys(primes).flatMap((name) => products.map((product) => [name, product] as const));

test.each(all)('scalars of elements of %s, %s products', async (name, product) => {
  const field = modulus(primes[name as keyof typeof primes], product);
  const { p, words } = field;
  const n = 200;
  const edges = [0n, 1n, p - 1n, p / 2n, p / 3n, 2n ** 31n];
  const elements = new Uint32Array(n * words);
  for (let i = 0; i < n; i++) {
    const number = ((edges[i % edges.length] as bigint) + (i < 12 ? 0n : BigInt(i) ** 9n)) % p;
    const element = toMontgomery(field, number);
    // memory may have a number above the prime
    const isAbove = i % 5 === 0 && element + p < p + (p >> 13n);
    writeWords(elements, i * words, words, isAbove ? element + p : element);
  }
  const [length, first, firstOut] = [130, 33, 7];
  const shape = { length, first, vector: 3, firstBase: 2 ** 20 + 5 };
  const { accounts, data } = await runner.run({
    scratch: { a: elements.byteLength, out: 4 * SCALAR_WORDS * (firstOut + length + 1) },
    uploads: [
      { to: { buffer: 'a' }, data: elements },
      { to: { buffer: 'out' }, data: new Uint32Array(SCALAR_WORDS * (firstOut + length + 1)).fill(0xdeadbeef) },
    ],
    commands: [
      {
        kind: 'dispatch',
        phase: 'scalars',
        kernel: scalarsKernel(field),
        config: packScalarsConfig(field, {
          ...{ length, first, first_out: firstOut, vector: shape.vector, first_base: shape.firstBase },
          account: LANES,
        }),
        bindings: { a: { buffer: 'a' }, out: { buffer: 'out' } },
        groups: groupsFor(length, THREADS),
      },
    ],
    accounts: 8 * LANES,
    read: [{ buffer: 'out', offset: 0, size: 4 * SCALAR_WORDS * (firstOut + length + 1) }],
  });
  const expected = scalarsOf(field, elements, shape);
  const found = data[0] as Uint32Array;
  expect(found.subarray(SCALAR_WORDS * firstOut, SCALAR_WORDS * (firstOut + length))).toEqual(expected.scalars);
  const beside = [...found.subarray(0, SCALAR_WORDS * firstOut), ...found.subarray(SCALAR_WORDS * (firstOut + length))];
  expect(new Set(beside)).toEqual(new Set([0xdeadbeef]));
  expect([sumOfLanes(accounts, 0), sumOfLanes(accounts, LANES)]).toEqual([0, expected.digest]);
});
