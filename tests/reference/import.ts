import { type CurveContext, isOnCurve } from '../../src/curves/curve.js';
import { readElement } from '../../src/field/field.js';
import { invert } from '../../src/field/modulus.js';
import { NONE_REJECTED } from '../../src/msm/stages/import.js';
import { isReduced, writePoint } from './points.js';

/**
 * CPU reference of wgsl/msm/import.wgsl. Converts `points` in place.
 *
 * @param scale factor of the given coordinates
 * @returns the two accounts: the first point that is not canonical, and the first point off the
 * curve
 */
export const importPoints = (curve: CurveContext, points: Uint32Array, first: number, scale = 1n): Uint32Array => {
  const { coordinates: f, p, pointWords } = curve;
  const unit = invert(scale, p);
  let notCanonical = NONE_REJECTED;
  let offCurve = NONE_REJECTED;
  for (let i = 0; i < points.length / pointWords; i++) {
    const stored = points.subarray(i * pointWords, (i + 1) * pointWords);
    if (stored.every((word) => word === 0)) continue;
    const [x, y] = [readElement(f, stored, 0), readElement(f, stored, f.words)];
    const canonical = isReduced(f, x) && isReduced(f, y);
    const unscaled = { x: f.reduced(f.multiple(x, unit)), y: f.reduced(f.multiple(y, unit)) };
    const valid = canonical && isOnCurve(curve, unscaled.x, unscaled.y);
    if (!canonical) notCanonical = Math.min(notCanonical, first + i);
    else if (!valid) offCurve = Math.min(offCurve, first + i);
    writePoint(curve, points, i, valid ? unscaled : null);
  }
  return Uint32Array.of(notCanonical, offCurve);
};
