import type { Tuning } from '../../api/tuning.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import { type CurveContext, isOnCurve } from '../../curves/curve.js';
import { type Affine, addAffine, double, infinityOf, toAffine } from '../../curves/jacobian.js';
import { GpuFault } from '../../errors.js';
import { elementFromMontgomery, isReduced, readElement } from '../../field/field.js';
import { bitsExponents, type ReduceShape } from './reduce.js';

/**
 * Reads stored point `index` and rejects it if it is not on the curve, so that no GPU fault passes.
 */
const readChecked = (curve: CurveContext, sums: Uint32Array, index: number): Affine => {
  const { coordinates: f, pointWords } = curve;
  const stored = [0, f.words].map((at) => readElement(f, sums, index * pointWords + at)) as [Coordinate, Coordinate];
  const areReduced = stored.every((each) => isReduced(f, each));
  if (areReduced && stored.every((each) => f.isZero(each))) return null;
  const [x, y] = stored.map((each) => elementFromMontgomery(f, each)) as [Coordinate, Coordinate];
  const point = { x, y };
  if (!areReduced || !isOnCurve(curve, x, y)) {
    throw new GpuFault('the walks', `window sum ${index} is not on ${curve.name}`);
  }
  return point;
};

/** Fields of a plan that combining needs. */
interface WindowShape {
  readonly tuning: Pick<Tuning, 'windowBits'>;
  readonly reduce: ReduceShape;
  /** T: windows of a vector. */
  readonly vectorWindows: number;
}

/**
 * Combines the windows of a vector on the CPU, the last step of the bucket method: S = Σ 2^exponent
 * · sum over the c sums of each of the T windows, by Horner's rule over the bits.
 *
 * @param sums the points that the second walk of the reduction wrote, for all vectors
 * @throws MsmError `internal` if a sum is not on the curve
 */
export const combineWindows = (
  curve: CurveContext,
  { tuning: { windowBits }, reduce, vectorWindows }: WindowShape,
  sums: Uint32Array,
  vector: number,
): AffinePoint<Coordinate> => {
  const byExponent: Affine[][] = [];
  for (let window = 0; window < vectorWindows; window++) {
    for (let i = 0; i < windowBits; i++) {
      const point = readChecked(curve, sums, (vector * vectorWindows + window) * windowBits + i);
      for (const inWindow of bitsExponents(windowBits, reduce, i)) {
        const exponent = window * windowBits + inWindow;
        byExponent[exponent] ??= [];
        byExponent[exponent].push(point);
      }
    }
  }
  let total = infinityOf(curve);
  for (let exponent = byExponent.length - 1; exponent >= 0; exponent--) {
    total = double(curve, total);
    for (const point of byExponent[exponent] ?? []) total = addAffine(curve, total, point);
  }
  return publicPoint(curve, toAffine(curve, total));
};

/** Converts a public point to the type of the curve's functions. */
export const affineOf = (point: AffinePoint<Coordinate>): Affine => (point.infinity ? null : point);

/** Returns whether two points have the same coordinates. */
export const areSame = (
  { coordinates: f }: CurveContext,
  a: AffinePoint<Coordinate>,
  b: AffinePoint<Coordinate>,
): boolean => {
  const numbers = [a, b].map(({ x, y }) => [...f.coefficients(x), ...f.coefficients(y)]) as [bigint[], bigint[]];
  return a.infinity === b.infinity && numbers[0].every((number, i) => number === numbers[1][i]);
};

/**
 * Converts a result to a public point.
 *
 * @throws MsmError `internal` if the point is not on the curve
 */
export const publicPoint = (curve: CurveContext, point: Affine): AffinePoint<Coordinate> => {
  const { zero } = curve.coordinates;
  if (point === null) return { x: zero, y: zero, infinity: true };
  if (!isOnCurve(curve, point.x, point.y)) {
    throw new GpuFault('the walks', `the result is not on ${curve.name}`);
  }
  return { ...point, infinity: false };
};
