import { invert, mod } from '../field/modulus.js';
import type { Curve } from './curve.js';

/**
 * Points on the CPU: plain BigInts, Jacobian coordinates (X : Y : Z) with x = X/Z², y = Y/Z³; infinity has Z = 0.
 * For the fold of an MSM, for small ones altogether, and for the CPU twins; every exceptional case is handled.
 */
export interface Jacobian {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
}

/** An affine point, or null for infinity. */
export type Affine = { readonly x: bigint; readonly y: bigint } | null;

export const infinity: Jacobian = { x: 1n, y: 1n, z: 0n };

/** 2P; `dbl-2007-bl` of the Explicit-Formulas Database, any a. */
export const double = ({ p, a }: Curve, { x, y, z }: Jacobian): Jacobian => {
  if (z === 0n || y === 0n) return infinity;
  const xx = (x * x) % p;
  const yy = (y * y) % p;
  const zz = (z * z) % p;
  const s = (4n * x * yy) % p;
  const m = (3n * xx + a * ((zz * zz) % p)) % p;
  const x3 = mod(m * m - 2n * s, p);
  return { x: x3, y: mod(m * (s - x3) - 8n * yy * yy, p), z: (2n * y * z) % p };
};

/** P + Q with Q affine; `madd` of the Explicit-Formulas Database. */
export const addAffine = (curve: Curve, left: Jacobian, right: Affine): Jacobian => {
  if (right === null) return left;
  if (left.z === 0n) return { ...right, z: 1n };
  const { p } = curve;
  const zz = (left.z * left.z) % p;
  const h = mod(right.x * zz - left.x, p);
  const r = mod(right.y * ((left.z * zz) % p) - left.y, p);
  if (h === 0n) return r === 0n ? double(curve, left) : infinity;
  const hh = (h * h) % p;
  const hhh = (h * hh) % p;
  const v = (left.x * hh) % p;
  const x3 = mod(r * r - hhh - 2n * v, p);
  return { x: x3, y: mod(r * (v - x3) - left.y * hhh, p), z: (left.z * h) % p };
};

/** P + Q; `add-1998-cmo-2` of the Explicit-Formulas Database. */
export const add = (curve: Curve, left: Jacobian, right: Jacobian): Jacobian => {
  if (left.z === 0n) return right;
  if (right.z === 0n) return left;
  const { p } = curve;
  const [zz1, zz2] = [(left.z * left.z) % p, (right.z * right.z) % p];
  const [u1, u2] = [(left.x * zz2) % p, (right.x * zz1) % p];
  const [s1, s2] = [(left.y * ((right.z * zz2) % p)) % p, (right.y * ((left.z * zz1) % p)) % p];
  const h = mod(u2 - u1, p);
  const r = mod(s2 - s1, p);
  if (h === 0n) return r === 0n ? double(curve, left) : infinity;
  const hh = (h * h) % p;
  const hhh = (h * hh) % p;
  const v = (u1 * hh) % p;
  const x3 = mod(r * r - hhh - 2n * v, p);
  return { x: x3, y: mod(r * (v - x3) - s1 * hhh, p), z: (((left.z * right.z) % p) * h) % p };
};

/** k·P for k ≥ 0, by double and add; not in constant time. */
export const multiply = (curve: Curve, k: bigint, point: Affine): Jacobian => {
  let sum = infinity;
  for (const bit of k.toString(2)) {
    sum = double(curve, sum);
    if (bit === '1') sum = addAffine(curve, sum, point);
  }
  return sum;
};

export const toAffine = ({ p }: Curve, { x, y, z }: Jacobian): Affine => {
  if (z === 0n) return null;
  const inverse = invert(z, p);
  const square = (inverse * inverse) % p;
  return { x: (x * square) % p, y: (((y * square) % p) * inverse) % p };
};
