/** Tables of powers for transforms and cosets. */
import { mod } from '../../field/modulus.js';
import type { VectorAt, VectorSpace } from './vector-memory.js';

/** Writes numbers in words of 32 bits, little-endian. */
export const wordsOfNumbers = (values: readonly bigint[], wordBytes: number): Uint32Array => {
  const perNumber = wordBytes / 4;
  const words = new Uint32Array(values.length * perNumber);
  for (const [i, value] of values.entries()) {
    let rest = value;
    for (let j = 0; j < perNumber; j++, rest >>= 32n) words[i * perNumber + j] = Number(BigInt.asUintN(32, rest));
  }
  return words;
};

/** Returns `first`, and its squares until there are `count`. */
export const squares = (first: bigint, count: number, p: bigint): bigint[] => {
  const all = [first];
  while (all.length < count) all.push(mod((all.at(-1) as bigint) ** 2n, p));
  return all.slice(0, count);
};

/** Runs `work` with numbers as elements in memory, which are released afterwards. */
export function* withNumbers(
  memory: VectorSpace,
  values: readonly bigint[],
  work: (at: VectorAt) => Generator<void>,
): Generator<void> {
  const at = memory.take(values.length);
  try {
    yield* memory.enter(at, wordsOfNumbers(values, memory.kernel.wordBytes), 1n);
    yield* work(at);
  } finally {
    memory.release(at, values.length);
  }
}

/**
 * Writes the twiddles of `Transform` for vectors of up to `length` elements. Each level is doubled
 * from its first element, 1.
 *
 * @param root a number of order `length`
 */
export function* writeTwiddles(memory: VectorSpace, to: VectorAt, length: number, root: bigint): Generator<void> {
  const { exports, elementBytes: bytes, kernel } = memory;
  const levels = Math.log2(length);
  // roots of order 2^k by k
  const roots = squares(root, levels + 1, kernel.field.p).reverse();
  yield* withNumbers(memory, roots, function* (at) {
    for (let half = 1; half < length; half *= 2) {
      const level = to + half * bytes;
      exports.multiply(level, at, at, 1, 0, 0, 0);
      for (let done = 1; done < half; done *= 2) {
        const scalar = at + Math.log2((2 * half) / done) * bytes;
        exports.multiply(level + done * bytes, level, scalar, done, bytes, bytes, 0);
      }
      yield;
    }
  });
}

/**
 * Writes factor·base^i for i below `length`. In reversed order, for which it is a power of two,
 * position j has the exponent whose bits are those of j in reverse.
 */
export function* writePowers(
  memory: VectorSpace,
  to: VectorAt,
  length: number,
  base: bigint,
  factor: bigint,
  order: 'natural' | 'reversed' = 'natural',
): Generator<void> {
  const { exports, elementBytes: bytes, kernel } = memory;
  // what is written is doubled by base, base^2, base^4, …, or by these from the last
  const ascending = squares(base, Math.ceil(Math.log2(length)), kernel.field.p);
  const steps = order === 'natural' ? ascending : ascending.reverse();
  yield* withNumbers(memory, [1n, factor, ...steps], function* (at) {
    exports.multiply(to, at, at + bytes, 1, 0, 0, 0);
    for (const i of steps.keys()) {
      const done = 2 ** i;
      const count = Math.min(done, length - done);
      exports.multiply(to + done * bytes, to, at + (2 + i) * bytes, count, bytes, bytes, 0);
      yield;
    }
  });
}
