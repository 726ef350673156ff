/**
 * A sum on a curve with a point of order 2, of which noble does not speak, and what the textbook
 * says it is.
 */
import type { AffinePoint } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import type { Curve } from '../../src/curves/curve.js';
import { TextbookCurve } from './textbook-curve.js';

export const orderTwoCase = () => {
  const { p } = bn254;
  const special: AffinePoint = { x: 5n, y: 0n, infinity: false };
  const curve: Curve = { ...bn254, name: 'even', a: 7n, b: (p - 160n) % p, generator: { x: 5n, y: 0n } };
  const textbook = new TextbookCurve(curve);
  const other = textbook.somePoint(curve.b, 1000n);
  const pool = [special, other, special, textbook.add(special, other), { ...other, y: p - other.y }];
  const points = Array.from({ length: 23 }, (_, i) => pool[(i * i) % pool.length] as AffinePoint);
  const scalars = points.map((_, i) => BigInt(i * i + 1));
  const expected = points.reduce((sum, point, i) => textbook.add(sum, textbook.multiply(point, scalars[i] as bigint)), {
    x: 0n,
    y: 0n,
    infinity: true,
  } as AffinePoint);
  return { curve, points, scalars, expected };
};
