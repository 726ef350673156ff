/**
 * Number-theoretic transforms by passes of butterflies: in decimation of frequency from natural to
 * bit-reversed order, and in decimation of time back (Gentleman and Sande 1966; Cooley and Tukey
 * 1965). Neither needs a permutation.
 */

import { mod, writeWords } from '../../field/modulus.js';
import { finish } from '../../scheduling/time-slice.js';
import type { VectorAt, VectorSpace } from './vector-kernel.js';
import { call, cut, inOrder, type KernelCall, type Phase, type Phases } from './vector-program.js';

/** Order of a table of powers. */
type FieldOrder = 'natural' | 'reversed';

/** Elements of a block at most that all remaining passes run over before the next block. */
const CACHED_ELEMENTS = 2 ** 11;

/**
 * Twiddles of a transform: for each half h of a block, w^0 … w^(h−1) with w of order 2h, from
 * element h on.
 */
export interface Transform {
  /** Address of the vector. */
  readonly at: number;
  /** Number of elements, a power of two. */
  readonly length: number;
  /** Address of the twiddles, whose element 0 is not used. */
  readonly twiddles: number;
  /** Bytes of an element. */
  readonly bytes: number;
  /** Butterflies of a call at most, a power of two: what one thread does before another may. */
  readonly grain: number;
}

/** Returns how often a transform reads and writes the whole vector in memory. */
export const passesOverMemory = (length: number): number =>
  length === 1 ? 0 : 1 + Math.max(0, Math.log2(length / CACHED_ELEMENTS) - 1);

export type PassName = 'difFirst' | 'difEven' | 'difOdd' | 'dit' | 'ditLast';

/** Returns the calls of a pass over `count` consecutive elements from `at`, blocks of 2·half. */
const passCalls = (
  { twiddles, bytes, grain }: Transform,
  name: PassName,
  at: number,
  count: number,
  half: number,
): KernelCall[] => {
  const w = twiddles + half * bytes;
  const [distance, blockStep] = [half * bytes, 2 * half * bytes];
  const calls: KernelCall[] = [];
  if (half < grain) {
    const atOnce = grain / half;
    for (let left = count / (2 * half), x = at; left > 0; left -= atOnce, x += atOnce * blockStep) {
      calls.push(call(name, x, distance, half, Math.min(left, atOnce), blockStep, w));
    }
    return calls;
  }
  for (let x = at; x < at + count * bytes; x += blockStep) {
    for (let k = 0; k < half; k += grain) {
      calls.push(call(name, x + k * bytes, distance, grain, 1, blockStep, w + k * bytes));
    }
  }
  return calls;
};

/** Returns a pass over the whole vector, whose calls are independent. */
const pass = (transform: Transform, name: PassName, half: number): Phase => ({
  chunks: passCalls(transform, name, transform.at, transform.length, half).map((each) => [each]),
});

/** Returns the name of the pass of decimation of frequency with blocks of 2·half, counted from the first. */
export const frequencyPass = (length: number, half: number): 'difFirst' | 'difEven' | 'difOdd' => {
  if (2 * half === length) return 'difFirst';
  return Math.log2(length / (2 * half)) % 2 === 0 ? 'difEven' : 'difOdd';
};

/** Returns the name of the pass of decimation of time with blocks of 2·half. */
export const timePass = (length: number, half: number): 'dit' | 'ditLast' => (2 * half === length ? 'ditLast' : 'dit');

/** Elements of the blocks whose passes run together. */
export const blockOf = ({ length, grain }: Pick<Transform, 'length' | 'grain'>): number =>
  Math.min(length, 2 * CACHED_ELEMENTS, 2 * grain);

/** Returns the passes within each block, for all blocks. */
const blocks = (transform: Transform, block: number, callsOf: (x: number) => readonly KernelCall[]): Phase => {
  const { at, length, bytes } = transform;
  return { chunks: Array.from({ length: length / block }, (_, i) => callsOf(at + i * block * bytes)) };
};

/** Transforms a vector in place, from natural to bit-reversed order. */
export function* decimateFrequency(transform: Transform): Phases {
  const { length } = transform;
  for (let half = length / 2; 2 * half > blockOf(transform); half /= 2) {
    yield pass(transform, frequencyPass(length, half), half);
  }
  yield* frequencyBlocks(transform);
}

/** Computes the last passes of `decimateFrequency`, which are within blocks. */
export function* frequencyBlocks(transform: Transform): Phases {
  const { at, length } = transform;
  if (length <= 2) {
    if (length === 2) yield inOrder(call('sums', at, 1));
    return;
  }
  const block = blockOf(transform);
  yield blocks(transform, block, (x) => {
    const calls: KernelCall[] = [];
    for (let half = block / 2; half > 1; half /= 2) {
      calls.push(...passCalls(transform, frequencyPass(length, half), x, block, half));
    }
    return [...calls, call('difLast', x, block / 2)];
  });
}

/** Transforms a vector in place, from bit-reversed to natural order. */
export function* decimateTime(transform: Transform): Phases {
  const { length } = transform;
  yield* timeBlocks(transform);
  for (let half = blockOf(transform); half < length; half *= 2) yield pass(transform, timePass(length, half), half);
}

/** Computes the first passes of `decimateTime`, which are within blocks. */
export function* timeBlocks(transform: Transform): Phases {
  const { at, length } = transform;
  if (length <= 2) {
    if (length === 2) yield inOrder(call('sums', at, 1));
    return;
  }
  const block = blockOf(transform);
  yield blocks(transform, block, (x) => {
    const calls = [call('ditFirst', x, block / 2)];
    for (let half = 2; half < block; half *= 2)
      calls.push(...passCalls(transform, timePass(length, half), x, block, half));
    return calls;
  });
}

/* Tables of powers for transforms and cosets. */

/** Powers of one call. */
const POWERS_AT_ONCE = 2 ** 13;

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

/** Yields the phases of `work` with numbers as elements in memory, which are released afterwards. */
export function* withNumbers(memory: VectorSpace, values: readonly bigint[], work: (at: VectorAt) => Phases): Phases {
  const at = memory.take(values.length);
  try {
    finish(memory.enter(at, wordsOfNumbers(values, memory.kernel.wordBytes), 1n));
    yield* work(at);
  } finally {
    memory.release(at, values.length);
  }
}

/**
 * Writes the twiddles of `Transform` for vectors of up to `length` elements. Each level is doubled
 * from its first element, 1, and then laid out as passes read it.
 *
 * @param root a number of order `length`
 */
export function* writeTwiddles(memory: VectorSpace, to: VectorAt, length: number, root: bigint): Phases {
  const { elementBytes: bytes, kernel } = memory;
  const levels = Math.log2(length);
  // roots of order 2^k by k
  const roots = squares(root, levels + 1, kernel.field.p).reverse();
  yield* withNumbers(memory, roots, function* (at) {
    const chunks: KernelCall[][] = [];
    // the longest first, so that no thread begins it when the others have ended
    for (let half = length / 2; half >= 1; half /= 2) {
      const level = to + half * bytes;
      const calls = [call('multiply', level, at, at, 1, 0, 0, 0)];
      for (let done = 1; done < half; done *= 2) {
        const scalar = at + Math.log2((2 * half) / done) * bytes;
        calls.push(call('multiply', level + done * bytes, level, scalar, done, bytes, bytes, 0));
      }
      if (half > 1) calls.push(call('pair', level, half));
      chunks.push(calls);
    }
    yield { chunks };
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
  { base, factor, order = 'natural' }: { readonly base: bigint; readonly factor: bigint; readonly order?: FieldOrder },
): Phases {
  const { elementBytes: bytes, kernel } = memory;
  // what is written is doubled by base, base^2, base^4, …, or by these from the last
  const ascending = squares(base, Math.ceil(Math.log2(length)), kernel.field.p);
  const steps = order === 'natural' ? ascending : ascending.reverse();
  yield* withNumbers(memory, [1n, factor, ...steps], function* (at) {
    yield inOrder(call('multiply', to, at, at + bytes, 1, 0, 0, 0));
    for (const i of steps.keys()) {
      const done = 2 ** i;
      const count = Math.min(done, length - done);
      yield cut(count, POWERS_AT_ONCE, (first, some) => [
        call('multiply', to + (done + first) * bytes, to + first * bytes, at + (2 + i) * bytes, some, bytes, bytes, 0),
      ]);
    }
  });
}
