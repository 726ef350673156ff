import type { Tuning } from '../../api/device.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import { type CurveContext, isOnCurve } from '../../curves/curve.js';
import { type Affine, addAffine, infinityOf, type Jacobian, toAffine } from '../../curves/jacobian.js';
import { canonicalTest } from '../../curves/point-source.js';
import { GpuFault } from '../../errors.js';
import { bigIntHorner, type Horner, pointOf } from './horner.js';
import { bitsExponents, type ReduceShape } from './reduce.js';

/** Fields of a plan that combining needs. */
interface WindowShape {
  readonly tuning: Pick<Tuning, 'windowBits'>;
  readonly reduce: ReduceShape;
  /** T: windows of a vector. */
  readonly vectorWindows: number;
}

/**
 * Combines the windows of a vector on the CPU, the last step of the bucket method: S = Σ 2^exponent
 * · sum over the c sums of each of the T windows, by Horner's rule over the bits. Every sum is
 * checked to be a canonical point of the curve, so that no GPU fault passes.
 *
 * @param sums the points that the last walk of the reduction wrote, for all vectors
 * @throws MsmError `internal` if a sum is not on the curve
 */
export const combineWindows = (
  curve: CurveContext,
  { tuning: { windowBits }, reduce, vectorWindows }: WindowShape,
  sums: Uint32Array,
  vector: number,
  horner: Horner = bigIntHorner(curve),
): AffinePoint<Coordinate> => {
  const { pointWords } = curve;
  const count = vectorWindows * windowBits;
  const first = vector * count;
  const points = sums.subarray(first * pointWords, (first + count) * pointWords);
  const isCanonical = canonicalTest(curve, points, pointWords);
  let canonical = 0;
  while (canonical < count && isCanonical(canonical)) canonical++;
  const right = horner.take(points.subarray(0, canonical * pointWords));
  if (right < count) throw new GpuFault('the walks', `window sum ${first + right} is not on ${curve.name}`);
  const byExponent: number[][] = Array.from({ length: count }, () => []);
  for (let i = 0; i < windowBits; i++) {
    for (const inWindow of bitsExponents(windowBits, reduce, i)) {
      for (let start = 0; start < count; start += windowBits)
        (byExponent[start + inWindow] as number[]).push(start + i);
    }
  }
  for (const indices of byExponent.reverse()) {
    horner.double();
    for (const index of indices) horner.add(index);
  }
  return publicPoint(curve, pointOf(curve, horner.total()));
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

/** Adds up the sums of parts of vectors, by vector. */
export class PartialSums {
  readonly #curve: CurveContext;
  readonly #totals: Jacobian[];

  /** @param count number of vectors */
  constructor(curve: CurveContext, count: number) {
    this.#curve = curve;
    this.#totals = Array.from({ length: count }, () => infinityOf(curve));
  }

  /** @param parts the vector of each sum */
  add(parts: readonly { readonly vector: number }[], sums: readonly AffinePoint<Coordinate>[]): void {
    for (const [i, { vector }] of parts.entries()) {
      const sum = affineOf(sums[i] as AffinePoint<Coordinate>);
      this.#totals[vector] = addAffine(this.#curve, this.#totals[vector] as Jacobian, sum);
    }
  }

  points(): AffinePoint<Coordinate>[] {
    return this.#totals.map((total) => publicPoint(this.#curve, toAffine(this.#curve, total)));
  }
}
