import { type CurveContext, isOnCurve } from '../curves/curve.js';
import { invert, mod, readWords } from '../field/modulus.js';
import { NONE_REJECTED } from '../stages/import.js';
import { writePoint } from './points.js';

/**
 * The CPU twin of wgsl/import.wgsl. `points` is converted in place; what comes back are the first that is not canonical and the first off the curve.
 *
 * @param scale what coordinates were multiplied by
 */
export const importPoints = (curve: CurveContext, points: Uint32Array, first: number, scale = 1n): Uint32Array => {
  const { field, pointWords } = curve;
  const unit = invert(scale, field.p);
  let notCanonical = NONE_REJECTED;
  let offCurve = NONE_REJECTED;
  for (let i = 0; i < points.length / pointWords; i++) {
    const x = readWords(points, i * pointWords, field.words);
    const y = readWords(points, i * pointWords + field.words, field.words);
    if (x === 0n && y === 0n) continue;
    const canonical = x < field.p && y < field.p;
    const unscaled = { x: mod(x * unit, field.p), y: mod(y * unit, field.p) };
    const valid = canonical && isOnCurve(curve, unscaled.x, unscaled.y);
    if (!canonical) notCanonical = Math.min(notCanonical, first + i);
    else if (!valid) offCurve = Math.min(offCurve, first + i);
    writePoint(curve, points, i, valid ? unscaled : null);
  }
  return Uint32Array.of(notCanonical, offCurve);
};
