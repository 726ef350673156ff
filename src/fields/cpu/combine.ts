/** Sums and products of elements of the same index, some at a time. */
import { withNumbers } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import type { Arena, Powers } from './arena.js';

/** Elements of one call. */
const ELEMENTS_AT_ONCE = 2 ** 13;

/** Calls `compute` for parts of a vector, one after the other. */
export function* inParts(length: number, compute: (first: number, count: number) => void): Generator<void> {
  for (let first = 0; first < length; first += ELEMENTS_AT_ONCE) {
    compute(first, Math.min(ELEMENTS_AT_ONCE, length - first));
    yield;
  }
}

/** Computes `to` from two or three vectors, which it may overwrite. */
export function* elementwise(
  { memory: { exports }, bytes }: Pick<Arena, 'memory' | 'bytes'>,
  kind: 'add' | 'subtract' | 'multiply' | 'multiplyAdd' | 'multiplySubtract',
  to: VectorAt,
  operands: readonly VectorAt[],
  length: number,
): Generator<void> {
  yield* inParts(length, (i, count) => {
    const [a, b, c] = operands.map((at) => at + i * bytes) as [number, number, number];
    if (kind === 'multiplyAdd' || kind === 'multiplySubtract') {
      exports[kind](to + i * bytes, a, b, c, count, bytes, bytes, bytes, bytes);
    } else exports[kind](to + i * bytes, a, b, count, bytes, bytes, bytes);
  });
}

/** Computes to[i] = factor·a[i], or factor·a[i] + to[i]; `factor` is the address of an element. */
function* scaled(
  { memory: { exports }, bytes }: Pick<Arena, 'memory' | 'bytes'>,
  to: VectorAt,
  a: VectorAt,
  factor: VectorAt,
  length: number,
  adds = false,
): Generator<void> {
  yield* inParts(length, (i, count) => {
    const [target, source] = [to + i * bytes, a + i * bytes];
    if (adds) exports.multiplyAdd(target, source, factor, target, count, bytes, bytes, 0, bytes);
    else exports.multiply(target, source, factor, count, bytes, bytes, 0);
  });
}

/** Computes to[i] = factor·a[i]. */
export function* scale(arena: Arena, to: VectorAt, a: VectorAt, factor: bigint, length: number): Generator<void> {
  yield* withNumbers(arena.memory, [factor], (at) => scaled(arena, to, a, at, length));
}

/** Multiplies a vector by powers, in place. */
export function* multiplyByPowers(arena: Arena, at: VectorAt, powers: Powers): Generator<void> {
  const { base, factor, length } = powers;
  if (base === 1n) {
    if (factor !== 1n) yield* scale(arena, at, at, factor, length);
    return;
  }
  const table = yield* arena.tables.powers(powers);
  yield* elementwise(arena, 'multiply', at, [at, table], length);
}

/** Returns the sum that a factor of 1 or −1 stands for; null for other factors. */
export const signOf = (factor: bigint, p: bigint): 'add' | 'subtract' | null => {
  if (factor === 1n) return 'add';
  return factor === p - 1n ? 'subtract' : null;
};

/** Computes Σ factors[k]·vectors[k], where `to` is none of them. */
export function* linearCombination(
  arena: Arena,
  to: VectorAt,
  terms: readonly { readonly factor: bigint; readonly at: VectorAt; readonly length: number }[],
  length: number,
): Generator<void> {
  arena.memory.clear(to, length);
  const factors = terms.map(({ factor }) => factor);
  yield* withNumbers(arena.memory, factors, function* (numbers) {
    for (const [k, { factor, at, length: own }] of terms.entries()) {
      const sum = signOf(factor, arena.field.p);
      if (sum === null) yield* scaled(arena, to, at, numbers + k * arena.bytes, own, true);
      else yield* elementwise(arena, sum, to, [to, at], own);
    }
  });
}
