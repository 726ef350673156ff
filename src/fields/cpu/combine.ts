/** Sums and products of elements of the same index, some at a time. */
import { withNumbers } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { call, cut, type KernelCall, type Phase, type Phases } from '../../wasm/vectors/vector-program.js';
import type { Elementwise } from '../program/operations.js';
import type { Arena, Powers } from './arena.js';

/** An operand and the result. */
export interface OfOne {
  readonly to: VectorAt;
  readonly a: VectorAt;
  /** Elements of the operand. */
  readonly length: number;
}

/** Returns a phase that calls a kernel on parts of vectors of `length` elements. */
export const inParts = (
  arena: Pick<Arena, 'grain'>,
  length: number,
  callsOf: (first: number, count: number) => readonly KernelCall[],
): Phase => cut(length, arena.grain(length), callsOf);

/** Computes `to` from two or three vectors, which it may overwrite. */
export function* elementwise(
  arena: Pick<Arena, 'bytes' | 'grain'>,
  kind: Elementwise,
  { to, operands, length }: { readonly to: VectorAt; readonly operands: readonly VectorAt[]; readonly length: number },
): Phases {
  const { bytes } = arena;
  yield inParts(arena, length, (i, count) => {
    const [a, b, c] = operands.map((at) => at + i * bytes) as [number, number, number];
    const isOfThree = kind === 'multiplyAdd' || kind === 'multiplySubtract';
    return [
      isOfThree
        ? call(kind, to + i * bytes, a, b, c, count, bytes, bytes, bytes, bytes)
        : call(kind, to + i * bytes, a, b, count, bytes, bytes, bytes),
    ];
  });
}

/** Computes to[i] = factor·a[i], or factor·a[i] + to[i]; `factor` is the address of an element. */
function* scaled(arena: Arena, factor: VectorAt, { to, a, length }: OfOne, adds = false): Phases {
  const { bytes } = arena;
  yield inParts(arena, length, (i, count) => {
    const [target, source] = [to + i * bytes, a + i * bytes];
    return [
      adds
        ? call('multiplyAdd', target, source, factor, target, count, bytes, bytes, 0, bytes)
        : call('multiply', target, source, factor, count, bytes, bytes, 0),
    ];
  });
}

/** Copies a vector. */
export function* copyVector(arena: Arena, to: VectorAt, from: VectorAt, length: number): Phases {
  const { bytes } = arena;
  yield inParts(arena, length, (i, count) => [call('copy', to + i * bytes, from + i * bytes, count * bytes)]);
}

/** Sets a vector to 0. */
export function* clearVector(arena: Arena, at: VectorAt, length: number): Phases {
  const { bytes } = arena;
  yield inParts(arena, length, (i, count) => [call('clear', at + i * bytes, count * bytes)]);
}

/** Computes to[i] = factor·a[i]. */
export function* scale(arena: Arena, factor: bigint, vectors: OfOne): Phases {
  yield* withNumbers(arena.memory, [factor], (at) => scaled(arena, at, vectors));
}

/** Multiplies a vector by powers, in place. */
export function* multiplyByPowers(arena: Arena, at: VectorAt, powers: Powers): Phases {
  const { base, factor, length } = powers;
  if (base === 1n) {
    if (factor !== 1n) yield* scale(arena, factor, { to: at, a: at, length });
    return;
  }
  const table = yield* arena.tables.powers(powers);
  yield* elementwise(arena, 'multiply', { to: at, operands: [at, table], length });
}

/** Returns the sum that a factor of 1 or −1 stands for; null for other factors. */
export const signOf = (factor: bigint, p: bigint): 'add' | 'subtract' | null => {
  if (factor === 1n) return 'add';
  return factor === p - 1n ? 'subtract' : null;
};

/** Computes Σ factors[k]·vectors[k], where `to` is none of them. */
export function* linearCombination(
  arena: Arena,
  terms: readonly { readonly factor: bigint; readonly at: VectorAt; readonly length: number }[],
  { to, length }: { readonly to: VectorAt; readonly length: number },
): Phases {
  yield* clearVector(arena, to, length);
  const factors = terms.map(({ factor }) => factor);
  yield* withNumbers(arena.memory, factors, function* (numbers) {
    for (const [k, { factor, at, length: elements }] of terms.entries()) {
      const sum = signOf(factor, arena.field.p);
      const scalar = numbers + k * arena.bytes;
      if (sum === null) yield* scaled(arena, scalar, { to, a: at, length: elements }, true);
      else yield* elementwise(arena, sum, { to, operands: [to, at], length: elements });
    }
  });
}
