import type { CurveContext, Membership } from '../../curves/curve.js';
import { type Program, ProgramWriter } from '../stages/program.js';

/** Digits −1, 0, 1 of k > 0, no two of them that are not 0 beside each other; the most significant one, a 1, first. */
const sparseDigits = (k: bigint): number[] => {
  const digits: number[] = [];
  for (let rest = k; rest > 0n; rest >>= 1n) {
    const digit = rest % 2n === 0n ? 0 : rest % 4n === 1n ? 1 : -1;
    digits.unshift(digit);
    rest -= BigInt(digit);
  }
  return digits;
};

/** What is true of every curve: a point P is in the group of the prime order r where (r − 1)·P is −P. */
const byOrder = ({ coordinates: f, order }: CurveContext): Membership => ({
  multiple: order - 1n,
  x: f.one,
  y: f.multiple(f.one, -1n),
  conjugates: false,
});

/**
 * Refuses what is not in the group: where k·P is not what an endomorphism makes of P. P is affine and k·P in Jacobian coordinates, without the
 * exceptional cases of an addition: there P is of an order that divides m − 1, m or m + 1 for some even m < r − 1, which is not r, and the formulas
 * give Z = 0, which stays (the doubling's have no other case). Whatever has Z = 0 in the end is refused.
 */
export const membershipTest = (curve: CurveContext): Program => {
  const f = curve.coordinates;
  const w = new ProgramWriter(f);
  const { multiple, x: scaleX, y: scaleY, conjugates } = curve.membership ?? byOrder(curve);
  const [px, py, minusPy, x, y, z, s, t, u, v, zero, a] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] as const;
  const twice = (register: number): void => w.sum(register, register, register);
  const hasA = !f.isZero(curve.a);
  if (hasA) w.constant(a, curve.a);

  const double = (): void => {
    // t = 3·x² + a·z⁴
    w.product(s, x, x);
    w.sum(t, s, s);
    w.sum(t, t, s);
    if (hasA) {
      w.product(s, z, z);
      w.product(s, s, s);
      w.product(s, s, a);
      w.sum(t, t, s);
    }
    w.product(z, y, z);
    twice(z);
    // u = 8·y⁴, s = 4·x·y²
    w.product(u, y, y);
    twice(u);
    w.product(s, x, u);
    twice(s);
    w.product(u, u, u);
    twice(u);
    w.product(x, t, t);
    w.difference(x, x, s);
    w.difference(x, x, s);
    w.difference(s, s, x);
    w.product(y, t, s);
    w.difference(y, y, u);
  };

  const add = (ownY: number): void => {
    // s = x_P·z² − x, t = y_P·z³ − y
    w.product(u, z, z);
    w.product(s, px, u);
    w.difference(s, s, x);
    w.product(u, u, z);
    w.product(t, ownY, u);
    w.difference(t, t, y);
    w.product(z, z, s);
    // u = x·s², v = s³
    w.product(v, s, s);
    w.product(u, x, v);
    w.product(v, v, s);
    w.product(x, t, t);
    w.difference(x, x, v);
    w.difference(x, x, u);
    w.difference(x, x, u);
    w.difference(u, u, x);
    w.product(u, u, t);
    w.product(v, v, y);
    w.difference(y, u, v);
  };

  w.constant(zero, f.zero);
  w.difference(minusPy, zero, py);
  w.move(x, px);
  w.move(y, py);
  w.constant(z, f.one);
  for (const digit of sparseDigits(multiple < 0n ? -multiple : multiple).slice(1)) {
    double();
    if (digit !== 0) add(digit === 1 ? py : minusPy);
  }

  // z² times what x is to be, and likewise y
  w.constant(s, scaleX);
  w.constant(t, multiple < 0n ? f.multiple(scaleY, -1n) : scaleY);
  if (conjugates) {
    w.conjugate(px, px);
    w.conjugate(py, py);
  }
  w.product(s, s, px);
  w.product(t, t, py);
  w.product(u, z, z);
  w.product(s, s, u);
  w.product(u, u, z);
  w.product(t, t, u);
  w.difference(s, s, x);
  w.difference(t, t, y);
  w.requireZero(s);
  w.requireZero(t);
  w.requireOther(z);
  return w.program();
};
