import type { Coordinate } from '../../src/api/values.js';
import type { CurveContext } from '../../src/curves/curve.js';
import type { Affine } from '../../src/curves/jacobian.js';
import {
  elementFromMontgomery,
  elementToMontgomery,
  type Field,
  readElement,
  writeElement,
} from '../../src/field/field.js';

/**
 * Reads point `index` of a buffer of stored points: x‖y in Montgomery form, (0, 0) for infinity.
 */
export const readPoint = ({ coordinates: f, pointWords }: CurveContext, buffer: Uint32Array, index: number): Affine => {
  const [x, y] = [0, f.words].map((at) => readElement(f, buffer, index * pointWords + at)) as [Coordinate, Coordinate];
  return f.isZero(x) && f.isZero(y) ? null : { x: elementFromMontgomery(f, x), y: elementFromMontgomery(f, y) };
};

/** Writes a point to index `index` of a buffer of stored points. */
export const writePoint = (
  { coordinates: f, pointWords }: CurveContext,
  buffer: Uint32Array,
  index: number,
  point: Affine,
): void => {
  const { x, y } = point ?? { x: f.zero, y: f.zero };
  writeElement(f, buffer, index * pointWords, elementToMontgomery(f, x));
  writeElement(f, buffer, index * pointWords + f.words, elementToMontgomery(f, y));
};

/** Returns whether all coefficients are in [0, p). */
export const isReduced = (field: Field, a: Coordinate): boolean =>
  field.coefficients(a).every((value) => value >= 0n && value < field.prime.p);
