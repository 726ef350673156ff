/** The group law on the CPU, in Jacobian coordinates, and tests of membership in the group of order r. */
import type { Coordinate } from '../api/values.js';
import { isPrime } from '../field/powers.js';
import type { CurveContext, Equation, Membership } from './curve.js';

/**
 * A point on the CPU, in Jacobian coordinates (X : Y : Z) with x = X/Z² and y = Y/Z³; infinity has
 * Z = 0. Coordinates are BigInts or pairs of them, not reduced. The functions below handle every
 * exceptional case. They combine the windows of an MSM, and compute small MSMs and references of
 * tests.
 */
export interface Jacobian {
  readonly x: Coordinate;
  readonly y: Coordinate;
  readonly z: Coordinate;
}

/** An affine point, or null for infinity. */
export type Affine = { readonly x: Coordinate; readonly y: Coordinate } | null;

/** Returns infinity. */
export const infinityOf = ({ coordinates: { zero, one } }: Equation): Jacobian => ({ x: one, y: one, z: zero });

/** Returns whether a point is infinity. */
export const isInfinity = ({ coordinates }: Equation, { z }: Jacobian): boolean => coordinates.isZero(z);

/** Returns 2P for any a; `dbl-2007-bl` of the Explicit-Formulas Database. */
export const double = (curve: Equation, { x, y, z }: Jacobian): Jacobian => {
  const f = curve.coordinates;
  if (f.isZero(z) || f.isZero(y)) return infinityOf(curve);
  const yy = f.product(y, y);
  const s = f.product(f.multiple(x, 4n), yy);
  const triple = f.multiple(f.product(x, x), 3n);
  const withA = (zz: Coordinate): Coordinate => f.sum(triple, f.product(curve.a, f.product(zz, zz)));
  const m = curve.a === f.zero ? triple : withA(f.product(z, z));
  const x3 = f.difference(f.product(m, m), f.multiple(s, 2n));
  const y3 = f.difference(f.product(m, f.difference(s, x3)), f.product(f.multiple(yy, 8n), yy));
  return { x: x3, y: y3, z: f.product(f.multiple(y, 2n), z) };
};

/**
 * The common part of additions: P + Q with P = (u1, s1) and Q = (u2, s2) over common denominators
 * z² and z³.
 */
const addOver = (
  curve: Equation,
  left: Jacobian,
  [u1, s1]: readonly [Coordinate, Coordinate],
  [u2, s2]: readonly [Coordinate, Coordinate],
  z: Coordinate,
): Jacobian => {
  const f = curve.coordinates;
  const h = f.difference(u2, u1);
  const r = f.difference(s2, s1);
  if (f.isZero(h)) return f.isZero(r) ? double(curve, left) : infinityOf(curve);
  const hh = f.product(h, h);
  const hhh = f.product(h, hh);
  const v = f.product(u1, hh);
  const x3 = f.difference(f.difference(f.product(r, r), hhh), f.multiple(v, 2n));
  const y3 = f.difference(f.product(r, f.difference(v, x3)), f.product(s1, hhh));
  return { x: x3, y: y3, z: f.product(z, h) };
};

/** Returns P + Q with Q affine; `madd` of the Explicit-Formulas Database. */
export const addAffine = (curve: Equation, left: Jacobian, right: Affine): Jacobian => {
  const f = curve.coordinates;
  if (right === null) return left;
  if (f.isZero(left.z)) return { ...right, z: f.one };
  const zz = f.product(left.z, left.z);
  const scaled = [f.product(right.x, zz), f.product(right.y, f.product(left.z, zz))] as const;
  return addOver(curve, left, [left.x, left.y], scaled, left.z);
};

/** Returns P + Q; `add-1998-cmo-2` of the Explicit-Formulas Database. */
export const add = (curve: Equation, left: Jacobian, right: Jacobian): Jacobian => {
  const f = curve.coordinates;
  if (f.isZero(left.z)) return right;
  if (f.isZero(right.z)) return left;
  const over = ({ x, y }: Jacobian, { z }: Jacobian): readonly [Coordinate, Coordinate] => {
    const zz = f.product(z, z);
    return [f.product(x, zz), f.product(y, f.product(z, zz))];
  };
  return addOver(curve, left, over(left, right), over(right, left), f.product(left.z, right.z));
};

/** Returns −P, with a reduced y. */
export const negated = <Point extends { readonly y: Coordinate }>(
  { coordinates: f }: Equation,
  point: Point,
): Point => ({
  ...point,
  y: f.reduced(f.multiple(point.y, -1n)),
});

/** Returns k·P for k ≥ 0, by double and add; not in constant time. */
export const multiply = (curve: Equation, k: bigint, point: Affine): Jacobian => {
  const steps = multiplySteps(curve, k, point);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};

/** Doublings of a step: less than a millisecond in G2. */
const DOUBLINGS = 16;

/** Computes k·P for k ≥ 0 in steps, between which the caller may let others go on. */
export function* multiplySteps(curve: Equation, k: bigint, point: Affine): Generator<void, Jacobian, void> {
  let sum = infinityOf(curve);
  for (const [i, bit] of [...k.toString(2)].entries()) {
    sum = double(curve, sum);
    if (bit === '1') sum = addAffine(curve, sum, point);
    if (i % DOUBLINGS === DOUBLINGS - 1) yield;
  }
  return sum;
}

/** Returns reduced affine coordinates; null for infinity. */
export const toAffine = (curve: Equation, { x, y, z }: Jacobian): Affine => {
  const f = curve.coordinates;
  if (f.isZero(z)) return null;
  const inverse = f.inverse(z);
  const square = f.product(inverse, inverse);
  return { x: f.reduced(f.product(x, square)), y: f.reduced(f.product(f.product(y, square), inverse)) };
};

/**
 * Returns the non-adjacent form of k > 0: digits −1, 0, 1, no two nonzero ones adjacent, the most
 * significant first.
 */
export const nonAdjacentForm = (k: bigint): number[] => {
  const digits: number[] = [];
  for (let rest = k; rest > 0n; rest >>= 1n) {
    const digit = rest % 2n === 0n ? 0 : rest % 4n === 1n ? 1 : -1;
    digits.unshift(digit);
    rest -= BigInt(digit);
  }
  return digits;
};

/**
 * Returns the bits of the digits 1 and −1 in the non-adjacent form of k ≥ 0: where 3k and k differ,
 * those of 3k and those of k (Prodinger 2000, "On binary representations of integers with digits −1,
 * 0, 1").
 */
export const nonAdjacentBits = (k: bigint): readonly [plus: bigint, minus: bigint] => {
  const changes = (3n * k) ^ k;
  return [((3n * k) & changes) >> 1n, (k & changes) >> 1n];
};

/** Returns the endomorphism φ of a membership test, with reduced coordinates. */
export const endomorphism = (
  { coordinates: f }: CurveContext,
  { x, y, conjugates }: Membership,
): ((point: Affine) => Affine) => {
  const scaled = (value: Coordinate, factor: Coordinate): Coordinate => {
    const [c0, c1] = f.coefficients(value);
    return f.reduced(f.product(conjugates ? f.of([c0 as bigint, -(c1 as bigint)]) : value, factor));
  };
  return (point) => point && { x: scaled(point.x, x), y: scaled(point.y, y) };
};

/**
 * Returns whether the order of the group is prime, so that r·P = 0 says that P is in the group. The
 * orders of named curves are known to be.
 */
export const hasPrimeOrder = ({ membership, order }: Pick<CurveContext, 'membership' | 'order'>): boolean =>
  membership !== undefined || isPrime(order);
