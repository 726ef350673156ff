import type { CurveContext } from '../curves/curve.js';
import type { Affine } from '../curves/jacobian.js';
import { fromMontgomery, readWords, toMontgomery, writeWords } from '../field/modulus.js';

/** Reads point `index` of a buffer of stored points: x‖y in Montgomery form, (0, 0) for infinity. */
export const readPoint = ({ field, pointWords }: CurveContext, buffer: Uint32Array, index: number): Affine => {
  const x = readWords(buffer, index * pointWords, field.words);
  const y = readWords(buffer, index * pointWords + field.words, field.words);
  return x === 0n && y === 0n ? null : { x: fromMontgomery(field, x), y: fromMontgomery(field, y) };
};

export const writePoint = (
  { field, pointWords }: CurveContext,
  buffer: Uint32Array,
  index: number,
  point: Affine,
): void => {
  writeWords(buffer, index * pointWords, field.words, point === null ? 0n : toMontgomery(field, point.x));
  writeWords(buffer, index * pointWords + field.words, field.words, point === null ? 0n : toMontgomery(field, point.y));
};
