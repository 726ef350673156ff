/** Transforms of one vector, in place. */
import type { FieldOrder } from '../../api/fields.js';
import { invert } from '../../field/modulus.js';
import { decimateFrequency, decimateTime } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { call, type Phases } from '../../wasm/vectors/vector-program.js';
import type { Transform } from '../program/operations.js';
import type { Arena, Powers } from './arena.js';
import { inParts, multiplyByPowers } from './combine.js';

/** Products of a transform with all of its scalings. */
export const productsOfTransform = ({ factor, coset }: Transform, length: number): number =>
  (length / 2) * Math.log2(length) + (factor === 1n && coset === 1n ? 0 : length);

/** Returns the powers that a transform multiplies by: a forward one the coefficients, an inverse one the result. */
const powersOf = (arena: Arena, kind: 'ntt' | 'intt', { from, coset, factor }: Transform, length: number): Powers => {
  if (kind === 'ntt') return { base: coset, factor, length, order: from };
  const base = coset === 1n ? 1n : invert(coset, arena.field.p);
  return { base, factor, length, order: orderAfter(from) };
};

/** Returns the order of the result of the passes. */
const orderAfter = (from: FieldOrder): FieldOrder => (from === 'natural' ? 'reversed' : 'natural');

/** Makes the tables that a transform reads. */
export function* tablesOfTransform(arena: Arena, kind: 'ntt' | 'intt', parameters: Transform, length: number): Phases {
  yield* arena.tables.twiddles(kind, length);
  const powers = powersOf(arena, kind, parameters, length);
  if (powers.base !== 1n) yield* arena.tables.powers(powers);
}

/** Runs a transform in place; the order of its result is `to`. */
export function* transform(
  arena: Arena,
  kind: 'ntt' | 'intt',
  parameters: Transform,
  { at, length }: { readonly at: VectorAt; readonly length: number },
): Phases {
  const { from, to } = parameters;
  const powers = powersOf(arena, kind, parameters, length);
  if (kind === 'ntt') yield* multiplyByPowers(arena, at, powers);
  const twiddles = yield* arena.tables.twiddles(kind, length);
  const passes = from === 'natural' ? decimateFrequency : decimateTime;
  yield* passes({ at, length, twiddles, bytes: arena.bytes, grain: arena.grain(length) });
  if (kind === 'intt') yield* multiplyByPowers(arena, at, powers);
  if (to !== orderAfter(from)) yield* reverseOrder(arena, at, length);
}

/** Moves each element to the index with the bits in reverse. */
function* reverseOrder(arena: Arena, at: VectorAt, length: number): Phases {
  if (length === 1) return;
  const unused = 32 - Math.log2(length);
  yield inParts(arena, length, (first, count) => [
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
