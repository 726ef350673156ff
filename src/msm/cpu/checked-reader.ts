/** Reads points one by one on BigInts, and tells their faults. */
import { type CurveContext, isOnCurve } from '../../curves/curve.js';
import { imageOf, isOnEdwards } from '../../curves/edwards.js';
import type { Affine } from '../../curves/jacobian.js';
import { type PointSource, readerOf, wordsOf } from '../../curves/point-source.js';
import { readElement } from '../../field/field.js';
import { invert } from '../../field/modulus.js';

/** First wrong point, and its fault. */
export interface WrongPoint {
  readonly index: number;
  readonly wrong: 'a coordinate' | 'off the curve' | 'outside the group';
}

/** Returns a reader of points of the curve that is computed on, or of their faults. */
export const checkedReader = (
  curve: CurveContext,
  source: PointSource,
): ((index: number) => Affine | WrongPoint['wrong']) => {
  const { coordinates: f, p, pointWords } = curve;
  const { bytes, sign, edwards } = source;
  const { scale } = edwards ?? source;
  const words = wordsOf(bytes);
  const unit = scale === 1n ? 1n : invert(scale, p);
  const isCanonical = (at: number): boolean => f.coefficients(readElement(f, words, at)).every((value) => value < p);
  const read = readerOf(curve, source);
  return (index) => {
    const at = index * pointWords;
    if (!isCanonical(at) || (sign === undefined && !isCanonical(at + f.words))) return 'a coordinate';
    const [x, y] = [at, at + f.words].map((from) => f.reduced(f.multiple(readElement(f, words, from), unit)));
    if (x === undefined || y === undefined || (f.isZero(x) && f.isZero(y))) return null;
    if (edwards !== undefined) {
      const own = curve.edwards;
      if (own === undefined || !isOnEdwards(own, p, x as bigint, y as bigint)) return 'off the curve';
      return imageOf(curve, x, y);
    }
    // a compressed point without a y is not on the curve
    if (sign !== undefined) return read(index) ?? 'off the curve';
    return isOnCurve(curve, x, y) ? { x, y } : 'off the curve';
  };
};
