import type { Coordinate } from '../../src/api/values.js';
import type { CurveContext } from '../../src/curves/curve.js';
import type { Affine } from '../../src/curves/jacobian.js';
import { elementFromMontgomery, elementToMontgomery, readElement, writeElement } from '../../src/field/field.js';

/** A point in extended coordinates: x = X/ZZ, y = Y/ZZZ; infinity has ZZ = 0. */
export type Extended = readonly [x: Coordinate, y: Coordinate, zz: Coordinate, zzz: Coordinate];

export const extendedInfinity = ({ coordinates: { zero } }: CurveContext): Extended => [zero, zero, zero, zero];

export const extendedOf = (curve: CurveContext, point: Affine): Extended => {
  const { one } = curve.coordinates;
  return point === null ? extendedInfinity(curve) : [point.x, point.y, one, one];
};

/** Reads point `index` of a buffer of points in extended coordinates. */
export const readExtended = ({ coordinates: f }: CurveContext, buffer: Uint32Array, index: number): Extended =>
  [0, 1, 2, 3].map((part) =>
    elementFromMontgomery(f, readElement(f, buffer, (4 * index + part) * f.words)),
  ) as unknown as Extended;

export const writeExtended = (
  { coordinates: f }: CurveContext,
  buffer: Uint32Array,
  index: number,
  point: Extended,
): void => {
  for (const [part, value] of point.entries()) {
    writeElement(f, buffer, (4 * index + part) * f.words, elementToMontgomery(f, value));
  }
};

export const negatedExtended = ({ coordinates: f }: CurveContext, [x, y, zz, zzz]: Extended): Extended => [
  x,
  f.reduced(f.multiple(y, -1n)),
  zz,
  zzz,
];

/** Doubles a point by dbl-2008-s-1 of the Explicit-Formulas Database. */
const double = (curve: CurveContext, [x, y, zz, zzz]: Extended): Extended => {
  const { coordinates: f, a } = curve;
  if (f.isZero(y)) return extendedInfinity(curve);
  const u = f.multiple(y, 2n);
  const v = f.product(u, u);
  const w = f.product(u, v);
  const s = f.product(x, v);
  const m = f.sum(f.multiple(f.product(x, x), 3n), f.product(a, f.product(zz, zz)));
  const next = f.difference(f.product(m, m), f.multiple(s, 2n));
  const nextY = f.difference(f.product(m, f.difference(s, next)), f.product(w, y));
  return [next, nextY, f.product(v, zz), f.product(w, zzz)].map((value) => f.reduced(value)) as unknown as Extended;
};

/** Adds a point to a sum by add-2008-s of the Explicit-Formulas Database. */
export const addExtended = (curve: CurveContext, sum: Extended, point: Extended): Extended => {
  const { coordinates: f } = curve;
  const [x1, y1, zz1, zzz1] = sum;
  const [x2, y2, zz2, zzz2] = point;
  if (f.isZero(zz1)) return point;
  if (f.isZero(zz2)) return sum;
  const u1 = f.product(x1, zz2);
  const s1 = f.product(y1, zzz2);
  const p = f.difference(f.product(x2, zz1), u1);
  const r = f.difference(f.product(y2, zzz1), s1);
  if (f.isZero(p)) return f.isZero(r) ? double(curve, point) : extendedInfinity(curve);
  const pp = f.product(p, p);
  const ppp = f.product(p, pp);
  const q = f.product(u1, pp);
  const x = f.difference(f.difference(f.product(r, r), ppp), f.multiple(q, 2n));
  const y = f.difference(f.product(r, f.difference(q, x)), f.product(s1, ppp));
  const zz = f.product(f.product(zz1, zz2), pp);
  const zzz = f.product(f.product(zzz1, zzz2), ppp);
  return [x, y, zz, zzz].map((value) => f.reduced(value)) as unknown as Extended;
};
