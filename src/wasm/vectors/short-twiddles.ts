/**
 * Transforms that keep no table as long as their vector. Blocks that fit the cache have a table. A wider pass
 * computes its twiddles part by part: with w of order 2h, w^(k+j) is w^k·w^j, so the powers of a part are
 * multiplied by one number for each part, and all blocks of the pass use them. That takes one product more for
 * each element of the vector, of some log2(n)/2 of the transform. Powers of a coset are computed likewise.
 */
import { invert, mod } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import {
  blockOf,
  frequencyBlocks,
  frequencyPass,
  type PassName,
  timeBlocks,
  timePass,
  writePowers,
  writeTwiddles,
} from './transform-passes.js';
import type { VectorAt, VectorSpace } from './vector-kernel.js';
import { call, inOrder, type KernelCall, type Phases } from './vector-program.js';

/** Twiddles that are computed at a time, at least and at most; a block has twice as many elements. */
const [LEAST_PART, MOST_PART] = [2, 2 ** 11];

/** Parts of a short vector. */
const LEAST_PARTS = 8;

/** Butterflies of a call at most. */
const GRAIN = 2 ** 13;

/** Returns the twiddles of a part. */
const partOf = (length: number): number => Math.min(MOST_PART, Math.max(LEAST_PART, length / LEAST_PARTS));

/** A vector, and memory for twiddles. */
export interface ShortTransform {
  readonly memory: VectorSpace;
  /** Address of the vector. */
  readonly at: VectorAt;
  /** Number of elements, a power of two. */
  readonly length: number;
  /** Address of `twiddleElements(length)` elements, which are overwritten. */
  readonly scratch: VectorAt;
}

/** Returns the elements of memory for the twiddles of transforms of `length` elements. */
export const twiddleElements = (length: number): number => 4 * partOf(length) + Math.ceil(length / partOf(length));

/** Places in the memory for twiddles. */
const placesIn = ({ memory, length, scratch }: ShortTransform) => {
  const part = partOf(length);
  const [blocks, powers, twiddles, starts] = [0, 2, 3, 4].map(
    (parts) => scratch + parts * part * memory.elementBytes,
  ) as [VectorAt, VectorAt, VectorAt, VectorAt];
  return { part, block: blockOf({ length, grain: part }), blocks, powers, twiddles, starts };
};

/**
 * Transforms the values of a polynomial on the n-th roots of unity to its values on a coset of them, in
 * natural order.
 *
 * @param root a number of order n, the length
 * @param coset factor of the n-th roots of unity
 */
export function* moveToCoset(transform: ShortTransform, root: bigint, coset: bigint): Phases {
  const { length, memory } = transform;
  const { p } = memory.kernel.field;
  yield* decimateFrequency(transform, power(root, BigInt(length) - 1n, p));
  yield* multiplyByPowers(transform, { base: coset, factor: invert(mod(BigInt(length), p), p) });
  yield* decimateTime(transform, root);
}

/** Transforms a vector in place, from natural to bit-reversed order. */
function* decimateFrequency(transform: ShortTransform, root: bigint): Phases {
  const { length } = transform;
  const { block } = placesIn(transform);
  for (let half = length / 2; 2 * half > block; half /= 2) {
    yield* widePass(transform, root, frequencyPass(length, half), half);
  }
  yield* frequencyBlocks(yield* withBlockTwiddles(transform, root));
}

/** Transforms a vector in place, from bit-reversed to natural order. */
function* decimateTime(transform: ShortTransform, root: bigint): Phases {
  const { length } = transform;
  const { block } = placesIn(transform);
  yield* timeBlocks(yield* withBlockTwiddles(transform, root));
  for (let half = block; half < length; half *= 2) yield* widePass(transform, root, timePass(length, half), half);
}

/** Writes the twiddles of all passes within blocks. @returns the transform with them */
function* withBlockTwiddles(transform: ShortTransform, root: bigint) {
  const { memory, at, length } = transform;
  const { part, block, blocks } = placesIn(transform);
  yield* writeTwiddles(memory, blocks, block, power(root, BigInt(length / block), memory.kernel.field.p));
  return { at, length, twiddles: blocks, bytes: memory.elementBytes, grain: part };
}

/** Computes a pass with blocks of 2·half elements, half ≥ 2·part. @param root a number of order n */
function* widePass(transform: ShortTransform, root: bigint, name: PassName, half: number): Phases {
  const { memory, at, length } = transform;
  const { elementBytes: bytes, kernel } = memory;
  const { part, powers, twiddles, starts } = placesIn(transform);
  const { p } = kernel.field;
  const w = power(root, BigInt(length / (2 * half)), p);
  yield* writePowers(memory, powers, part, { base: w, factor: 1n });
  yield* writePowers(memory, starts, half / part, { base: power(w, BigInt(part), p), factor: 1n });
  const [blocks, atOnce] = [length / (2 * half), GRAIN / part];
  const [distance, blockStep] = [half * bytes, 2 * half * bytes];
  const calls: KernelCall[] = [];
  for (let q = 0; q < half / part; q++) {
    calls.push(call('multiply', twiddles, powers, starts + q * bytes, part, bytes, bytes, 0));
    calls.push(call('pair', twiddles, part));
    for (let block = 0; block < blocks; block += atOnce) {
      const x = at + block * blockStep + q * part * bytes;
      calls.push(call(name, x, distance, part, Math.min(atOnce, blocks - block), blockStep, twiddles));
    }
  }
  yield inOrder(...calls);
}

/**
 * Multiplies a vector in bit-reversed order by factor·base^i. With n = 2^l and parts of 2^m elements, element j
 * of part q has the index rev(j)·2^(l−m) + rev(q), each of as many bits as its number has.
 */
function* multiplyByPowers(
  transform: ShortTransform,
  { base, factor }: { readonly base: bigint; readonly factor: bigint },
): Phases {
  const { memory, at, length } = transform;
  const { elementBytes: bytes, kernel } = memory;
  const { part: most, powers, twiddles, starts } = placesIn(transform);
  const part = Math.min(most, length);
  const parts = length / part;
  const step = power(base, BigInt(parts), kernel.field.p);
  yield* writePowers(memory, powers, part, { base: step, factor: 1n, order: 'reversed' });
  yield* writePowers(memory, starts, parts, { base, factor, order: 'reversed' });
  const calls: KernelCall[] = [];
  for (let q = 0; q < parts; q++) {
    const x = at + q * part * bytes;
    calls.push(call('multiply', twiddles, powers, starts + q * bytes, part, bytes, bytes, 0));
    calls.push(call('multiply', x, x, twiddles, part, bytes, bytes, bytes));
  }
  yield inOrder(...calls);
}
