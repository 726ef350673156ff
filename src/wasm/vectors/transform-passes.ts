/**
 * Number-theoretic transforms by passes of butterflies: in decimation of frequency from natural to
 * bit-reversed order, and in decimation of time back (Gentleman and Sande 1966; Cooley and Tukey
 * 1965). Neither needs a permutation.
 */

import { mod, writeWords } from '../../field/modulus.js';
import type { VectorAt, VectorSpace } from './vector-kernel.js';
import type { VectorExports } from './vector-loops.js';

/** Elements of a block at most that all remaining passes run over before the next block. */
const CACHED_ELEMENTS = 2 ** 11;

/**
 * Twiddles of a transform: for each half h of a block, w^0 … w^(h−1) with w of order 2h, from
 * element h on.
 */
interface Transform {
  readonly exports: VectorExports;
  /** Address of the vector. */
  readonly at: number;
  /** Number of elements, a power of two. */
  readonly length: number;
  /** Address of the twiddles, whose element 0 is not used. */
  readonly twiddles: number;
  /** Bytes of an element. */
  readonly bytes: number;
}

/** Butterflies of a call at most, so that calls of some milliseconds can be told apart. */
const BUTTERFLIES_PER_CALL = 2 ** 13;

/** Returns how often a transform reads and writes the whole vector in memory. */
export const passesOverMemory = (length: number): number =>
  length === 1 ? 0 : 1 + Math.max(0, Math.log2(length / CACHED_ELEMENTS) - 1);

/** Runs a pass over `count` consecutive elements from `at`, blocks of 2·half. */
function* pass(
  { exports, twiddles, bytes }: Transform,
  name: 'difEven' | 'difOdd' | 'dit' | 'ditLast',
  at: number,
  count: number,
  half: number,
): Generator<void> {
  const run = exports[name];
  const w = twiddles + half * bytes;
  const [distance, blockStep] = [half * bytes, 2 * half * bytes];
  if (half < BUTTERFLIES_PER_CALL) {
    const atOnce = BUTTERFLIES_PER_CALL / half;
    for (let left = count / (2 * half), x = at; left > 0; left -= atOnce, x += atOnce * blockStep) {
      run(x, distance, half, Math.min(left, atOnce), blockStep, w);
      yield;
    }
    return;
  }
  for (let x = at; x < at + count * bytes; x += blockStep) {
    for (let k = 0; k < half; k += BUTTERFLIES_PER_CALL) {
      run(x + k * bytes, distance, BUTTERFLIES_PER_CALL, 1, blockStep, w + k * bytes);
      yield;
    }
  }
}

/** Returns the number of the pass with blocks of 2·half, from the first. */
const passName = (length: number, half: number): 'difEven' | 'difOdd' =>
  Math.log2(length / (2 * half)) % 2 === 0 ? 'difEven' : 'difOdd';

/** Transforms a vector in place, from natural to bit-reversed order; yields between calls. */
export function* decimateFrequency(transform: Transform): Generator<void> {
  const { exports, at, length, bytes } = transform;
  if (length === 1) return;
  let half = length / 2;
  for (; half > CACHED_ELEMENTS; half /= 2) yield* pass(transform, passName(length, half), at, length, half);
  const block = 2 * half;
  for (let x = at; x < at + length * bytes; x += block * bytes) {
    for (let own = half; own > 1; own /= 2) yield* pass(transform, passName(length, own), x, block, own);
    exports.difLast(x, half);
  }
}

/** Transforms a vector in place, from bit-reversed to natural order; yields between calls. */
export function* decimateTime(transform: Transform): Generator<void> {
  const { exports, at, length, bytes } = transform;
  if (length <= 2) {
    if (length === 2) exports.difLast(at, 1);
    return;
  }
  const block = Math.min(length, 2 * CACHED_ELEMENTS);
  const nameOf = (half: number): 'dit' | 'ditLast' => (2 * half === length ? 'ditLast' : 'dit');
  for (let x = at; x < at + length * bytes; x += block * bytes) {
    exports.ditFirst(x, block / 2);
    for (let half = 2; half < block; half *= 2) yield* pass(transform, nameOf(half), x, block, half);
  }
  for (let half = block; half < length; half *= 2) yield* pass(transform, nameOf(half), at, length, half);
}

/* Tables of powers for transforms and cosets. */

/** Writes numbers in words of 32 bits, little-endian. */
export const wordsOfNumbers = (values: readonly bigint[], wordBytes: number): Uint32Array => {
  const perNumber = wordBytes / 4;
  const words = new Uint32Array(values.length * perNumber);
  for (const [i, value] of values.entries()) writeWords(words, i * perNumber, perNumber, value);
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
  {
    base,
    factor,
    order = 'natural',
  }: { readonly base: bigint; readonly factor: bigint; readonly order?: 'natural' | 'reversed' },
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
