import type { AffinePoint, Coordinate } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { addAffine, infinityOf, type Jacobian, multiply, toAffine } from '../curves/jacobian.js';
import { encodePoints } from '../engine/arguments.js';
import { writeNumber } from '../engine/bytes.js';
import { mod } from '../field/modulus.js';
import { publicPoint } from '../msm/stages/combine-windows.js';
import { Random } from './random.js';

/** An MSM with a known answer: the points are i·G, so the sum is (Σ s_i·i)·G. */
export interface Problem {
  readonly n: number;
  readonly points: Uint8Array<ArrayBuffer>;
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly expected: AffinePoint<Coordinate>;
}

/** Makes an MSM of n points, of which n/16 are distinct. @param n a power of two, 16 or more */
export const makeProblem = (curve: CurveContext, n: number): Problem => {
  // few enough to compute quickly, and enough that equal points rarely meet in a bucket
  const distinct = n / 16;
  const multiples: AffinePoint<Coordinate>[] = [];
  let sum: Jacobian = infinityOf(curve);
  for (let i = 0; i < distinct; i++) {
    sum = addAffine(curve, sum, curve.generator);
    multiples.push(publicPoint(curve, toAffine(curve, sum)));
  }
  const random = new Random(0x243f6a88); // the first fractional bits of π
  const scalars = Array.from({ length: n }, () => {
    let scalar = 0n;
    for (let bits = 0; bits < curve.scalarBits; bits += 32) scalar = (scalar << 32n) | BigInt(random.u32());
    return mod(scalar, curve.order);
  });
  const logarithm = mod(
    scalars.reduce((total, scalar, i) => total + scalar * BigInt((i % distinct) + 1), 0n),
    curve.order,
  );
  const each = curve.scalarBytes / 8;
  const words = new BigUint64Array(n * each);
  for (const [i, scalar] of scalars.entries()) writeNumber(words, i * each, each, scalar);
  const points = scalars.map((_, i) => multiples[i % distinct] as AffinePoint<Coordinate>);
  return {
    n,
    points: encodePoints(curve, points),
    scalars: new Uint8Array(words.buffer),
    expected: publicPoint(curve, toAffine(curve, multiply(curve, logarithm, curve.generator))),
  };
};
