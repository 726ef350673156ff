/** Powers a^(2^times)·b of vectors, in every form of arithmetic, beside BigInts. */
import { expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import { finish } from '../../src/scheduling/time-slice.js';
import { VectorMemory, vectorKernel } from '../../src/wasm/vectors/vector-kernel.js';
import { call } from '../../src/wasm/vectors/vector-program.js';
import { arithmeticsHere } from '../support/kernels.js';
import { primes } from '../support/primes.js';

/** Numbers and their words. */
const wordsOf = (numbers: readonly bigint[], bytes: number): Uint32Array => {
  const words = new Uint32Array((numbers.length * bytes) / 4);
  for (const [i, number] of numbers.entries())
    for (let j = 0; j < bytes / 4; j++) words[(i * bytes) / 4 + j] = Number((number >> BigInt(32 * j)) & 0xffff_ffffn);
  return words;
};

const power = (a: bigint, times: number, p: bigint): bigint => {
  let result = a;
  for (let i = 0; i < times; i++) result = (result * result) % p;
  return result;
};

const cases = arithmeticsHere.flatMap((arithmetic) =>
  Object.entries(primes).map(([name, p]) => [arithmetic, name, p] as const),
);

test.each(cases)('%s modulo %s', async (arithmetic, _, p) => {
  const kernel = vectorKernel(p, arithmetic);
  if (kernel === null) throw new Error(`${arithmetic} does not have the field`);
  const memory = await VectorMemory.open(kernel);
  const random = new Random(51);
  const edges = [0n, 1n, 2n, p - 1n, p - 2n, p / 2n, p / 2n + 1n, p / 3n];
  const numbers = (seed: number): bigint[] =>
    Array.from({ length: 20 }, (_each, i) => edges[i + seed] ?? random.belowBig(p));
  const [as, bs] = [numbers(0), numbers(3)];
  const [a, b, to] = [memory.take(20), memory.take(20), memory.take(24)];
  finish(memory.enter(b, wordsOf(bs, kernel.wordBytes), 1n));
  for (const times of [1, 2, 3, 7, 60]) {
    for (const target of [to, a]) {
      finish(memory.enter(a, wordsOf(as, kernel.wordBytes), 1n));
      memory.clear(to, 24);
      memory.run(call('squareMultiply', target, a, b, times, 20));
      const words = new Uint32Array((20 * kernel.wordBytes) / 4);
      finish(memory.leave(words, target, 1n));
      const expected = as.map((each, i) => (power(each, times, p) * (bs[i] as bigint)) % p);
      expect(words).toEqual(wordsOf(expected, kernel.wordBytes));
      // what is behind the last element stays
      for (let i = 20; i < 24; i++) expect(memory.number(to + i * memory.elementBytes)).toBe(0n);
    }
  }
});
