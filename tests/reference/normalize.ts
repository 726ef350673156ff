import type { CurveContext } from '../../src/curves/curve.js';
import { extendedWords } from '../../src/msm/stages/walk-xyzz.js';
import { readExtended } from './extended.js';
import { writePoint } from './points.js';

/** CPU reference of wgsl/msm/normalize.wgsl: converts points to affine coordinates. */
export const normalize = (curve: CurveContext, extended: Uint32Array): Uint32Array<ArrayBuffer> => {
  const { coordinates: f, pointWords } = curve;
  const count = extended.length / extendedWords(curve);
  const points = new Uint32Array(count * pointWords);
  for (let i = 0; i < count; i++) {
    const [x, y, zz, zzz] = readExtended(curve, extended, i);
    const point = f.isZero(zz)
      ? null
      : { x: f.reduced(f.product(x, f.inverse(zz))), y: f.reduced(f.product(y, f.inverse(zzz))) };
    writePoint(curve, points, i, point);
  }
  return points;
};
