/** Transforms of one vector, in place. */
import { invert } from '../../field/modulus.js';
import { decimateFrequency, decimateTime } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { call, cut, type Phases } from '../../wasm/vectors/vector-program.js';
import type { Transform } from '../program/operations.js';
import type { Arena } from './arena.js';
import { multiplyByPowers } from './combine.js';

/** Products of a transform with all of its scalings. */
export const productsOfTransform = ({ factor, coset }: Transform, length: number): number =>
  (length / 2) * Math.log2(length) + (factor === 1n && coset === 1n ? 0 : length);

/** Runs a transform in place; the order of its result is `to`. */
export function* transform(
  arena: Arena,
  kind: 'ntt' | 'intt',
  { from, to, coset, factor }: Transform,
  { at, length }: { readonly at: VectorAt; readonly length: number },
): Phases {
  const { field } = arena;
  if (kind === 'ntt') yield* multiplyByPowers(arena, at, { base: coset, factor, length, order: from });
  const twiddles = yield* arena.tables.twiddles(kind, length);
  const passes = from === 'natural' ? decimateFrequency : decimateTime;
  yield* passes({ at, length, twiddles, bytes: arena.bytes, grain: arena.grain(length) });
  const order = from === 'natural' ? 'reversed' : 'natural';
  if (kind === 'intt') {
    const base = coset === 1n ? 1n : invert(coset, field.p);
    yield* multiplyByPowers(arena, at, { base, factor, length, order });
  }
  if (to !== order) yield* reverseOrder(arena, at, length);
}

/** Moves each element to the index with the bits in reverse. */
function* reverseOrder(arena: Arena, at: VectorAt, length: number): Phases {
  if (length === 1) return;
  const unused = 32 - Math.log2(length);
  yield cut(length, arena.grain(length), (first, count) => [
    call('reverse', at, length, first, count, reversed(first) >>> unused),
  ]);
}

/** Returns a number of 32 bits with its bits in reverse. */
const reversed = (value: number): number => {
  let bits = value;
  bits = ((bits >>> 1) & 0x5555_5555) | ((bits & 0x5555_5555) << 1);
  bits = ((bits >>> 2) & 0x3333_3333) | ((bits & 0x3333_3333) << 2);
  bits = ((bits >>> 4) & 0x0f0f_0f0f) | ((bits & 0x0f0f_0f0f) << 4);
  bits = ((bits >>> 8) & 0x00ff_00ff) | ((bits & 0x00ff_00ff) << 8);
  return (bits >>> 16) | (bits << 16);
};
