import type { AffinePoint } from '../../dev/oracle/known-bases.js';
import type { Curve } from '../../src/curves/curve.js';
import { TextbookCurve } from './textbook-curve.js';

/**
 * y² = x³ + 2·x + b over the Mersenne prime 2^61 − 1: a field of five limbs, so that its pipelines
 * compile in no time. It has 2305843009422097804 points (baby steps and giant steps over Hasse's
 * interval). `order` is a large multiple of that, because decompose has a subtraction for every bit
 * that it is short of 256; scalars below it are not reduced.
 */
const p = 2n ** 61n - 1n;
const points = 2305843009422097804n;
const [x, y, a] = [3n, 11n, 2n];
const b = (((y * y - x ** 3n - a * x) % p) + p) % p;

export const smallCurve: Curve = { name: 'small', p, order: (2n ** 255n / points) * points, a, b, generator: { x, y } };

/**
 * The first n multiples of the generator, and scalars below the order; with the sum, which is that of the scalars
 * times their multiples, times the generator, the textbook's way.
 */
export const smallCase = (
  n: number,
  scalarOf = (i: number): bigint => (BigInt(i + 3) * 0x9e3779b97f4a7c15n) % 2n ** 64n,
): { points: AffinePoint[]; scalars: bigint[]; expected: AffinePoint } => {
  const textbook = new TextbookCurve(smallCurve);
  const generator: AffinePoint = { x, y, infinity: false };
  const points: AffinePoint[] = [];
  for (let i = 0; i < n; i++) points.push(i === 0 ? generator : textbook.add(points[i - 1] as AffinePoint, generator));
  const scalars = points.map((_, i) => scalarOf(i));
  const log = scalars.reduce((sum, scalar, i) => sum + BigInt(i + 1) * scalar, 0n);
  return { points, scalars, expected: textbook.multiply(generator, log) };
};
