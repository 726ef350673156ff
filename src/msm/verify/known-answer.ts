/** Known answer for self-tests: an MSM over points that strain carries, summed on the CPU alone. */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import { type CurveContext, cubic } from '../../curves/curve.js';
import { add, infinityOf, type Jacobian, multiply, negated, toAffine } from '../../curves/jacobian.js';
import { wordsOf, writePoint } from '../../curves/point-source.js';
import { digitsOf, FLOAT_LIMB_BITS, type Modulus } from '../../field/modulus.js';
import { squareRootIn } from '../../field/square-root.js';
import { affineOf, publicPoint } from '../stages/combine-windows.js';

/** Points, scalars and their sum. */
export interface KnownAnswer {
  /** Points in the public format. */
  readonly points: Uint8Array<ArrayBuffer>;
  /** Scalars in the public format. */
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly sum: AffinePoint<Coordinate>;
}

/** A number without a pattern: the digits of the golden ratio. */
const LONG = 0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95n;

/**
 * Squares of these limbs are 2^24 + 1 and 2^24 − 7 modulo 2^25, just above and below the middle
 * between two floats of src/field/float-columns.ts.
 */
const MIDDLES = [0x800001, 0xe73f4b] as const;

/**
 * Returns numbers for which the roundings of products by floats all err by the most, up or down:
 * elements in Montgomery form with limbs that are all equal. None for other products.
 */
const middles = ({ product, bits }: Modulus): bigint[] =>
  product !== 'fma'
    ? []
    : MIDDLES.map((limb) => {
        const ones = (1n << BigInt(FLOAT_LIMB_BITS * Math.ceil(bits / FLOAT_LIMB_BITS))) - 1n;
        return ((ones / (2n ** BigInt(FLOAT_LIMB_BITS) - 1n)) * BigInt(limb)) & ((1n << BigInt(bits - 1)) - 1n);
      });

/** Returns the first point on the curve with x in `x`, `x + step`, `x + 2·step` and so on. */
const pointFrom = (curve: CurveContext, x: Coordinate, step: Coordinate): AffinePoint<Coordinate> => {
  const f = curve.coordinates;
  for (let at = f.reduced(x); ; at = f.reduced(f.sum(at, step))) {
    const y = squareRootIn(f, cubic(curve, at));
    if (y !== null) return { x: at, y, infinity: false };
  }
};

/**
 * Makes the known answer of a curve. The limbs of x are near 0, 1, all ones or p − 1, so that
 * borrows and carries ripple through all limbs: in plain form for some points, in Montgomery form
 * for others. Products by floats get limbs whose products are hard to round as well. In the buckets
 * of a common scalar points meet themselves, their opposites, infinity and one another.
 */
export const knownAnswer = (curve: CurveContext): KnownAnswer => {
  const { p, order, field, coordinates: f } = curve;
  const top = 1n << BigInt(field.bits - 1);
  const points: AffinePoint<Coordinate>[] = [];
  const infinity = infinityOf(curve);
  const scalars: bigint[] = [];
  // scalars are small multiples of these units, so the CPU needs only three long multiplications;
  // half of the order is where scalars begin to be negated
  const half = (order - 1n) / 2n;
  const units = [LONG % half, half, 1n];
  const sums: Jacobian[] = units.map(() => infinity);
  const put = (point: AffinePoint<Coordinate>, ...times: readonly number[]): void => {
    points.push(point);
    scalars.push(times.reduce((sum, count, i) => sum + BigInt(count) * (units[i] as bigint), 0n));
    times.forEach((count, i) => {
      sums[i] = add(curve, sums[i] as Jacobian, multiply(curve, BigInt(count), affineOf(point)));
    });
  };
  let i = 0;
  for (const x of [0n, 1n, top - 1n, top, p / 2n, p - 1n, ...middles(field)]) {
    const step = x < p / 2n ? 1n : -1n;
    for (const form of [1n, field.rInverse]) {
      // the same limbs in every coefficient
      const point = pointFrom(curve, f.of([x * form, x * form]), f.of([step * form, 0n]));
      const met = [point, negated(curve, point), publicPoint(curve, null)][i % 3] as AffinePoint<Coordinate>;
      put(met, 1, 0, 0);
      put(point, 1, 0, 0);
      const [a, b, c] = [
        [0, 0, 1],
        [0, 2, 0],
        [0, 1, 0],
        [0, 1, 1],
        [0, 0, Math.min(8191, Number(half))],
        [1, 1, 0],
      ][i++ % 6] as number[];
      put(point, a as number, b as number, c as number);
    }
  }
  const sum = units.reduce(
    (total, unit, at) => add(curve, total, multiply(curve, unit, toAffine(curve, sums[at] as Jacobian))),
    infinity,
  );
  const pointBytes = new Uint8Array(points.length * curve.pointBytes);
  const pointWords = wordsOf(pointBytes);
  for (const [at, point] of points.entries()) writePoint(curve, pointWords, at, affineOf(point));
  const scalarBytes = new Uint8Array(scalars.length * curve.scalarBytes);
  const scalarWords = curve.scalarBytes / 4;
  for (const [at, scalar] of scalars.entries()) {
    wordsOf(scalarBytes).set(digitsOf(scalar, 32, scalarWords), at * scalarWords);
  }
  return { points: pointBytes, scalars: scalarBytes, sum: publicPoint(curve, toAffine(curve, sum)) };
};
