/** Emits conversions between numbers of a caller and elements. */
import { invert } from '../../field/modulus.js';
import { montgomeryWords } from '../stages/element.js';
import type { Emitter, Part } from './emitter.js';

/** Emits numbers of a caller as elements. @param words little-endian, one stored element each */
export const emitEnter = (emit: Emitter, words: Uint32Array, scale: bigint, out: Part): void => {
  const length = (4 * words.length) / emit.bytes;
  const { field } = emit.setup;
  // a Montgomery product divides by R once, and the element is the number times R
  const factor = montgomeryWords(field, field.r * invert(scale, field.p));
  emit.combine(out, { a: emit.upload(words) }, { length, a_length: length, products: 1 }, factor);
};

/** Emits elements as numbers times `scale`, below the prime, for the host. */
export const emitLeave = (emit: Emitter, a: Part, length: number, scale: bigint): Part => {
  const { field } = emit.setup;
  const factor = montgomeryWords(field, scale * field.rInverse);
  const values = { length, a_length: length, products: 1, canonical: 1 };
  return emit.leave(length, (out) => emit.combine(out, { a }, values, factor));
};
