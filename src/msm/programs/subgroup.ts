import type { CurveContext, Membership } from '../../curves/curve.js';
import { nonAdjacentForm } from '../../curves/membership.js';
import { type Program, ProgramWriter, type Register } from '../stages/program.js';

/**
 * Returns the membership test that every curve has: P is in the group of prime order r if and only
 * if (r − 1)·P is −P.
 */
const byOrder = ({ coordinates: f, order }: CurveContext): Membership => ({
  multiple: order - 1n,
  x: f.one,
  y: f.multiple(f.one, -1n),
  conjugates: false,
});

/**
 * Registers: the affine point P, −y of P, a Jacobian point (x : y : z), four temporaries, 0, and
 * the curve's a.
 */
const [px, py, minusPy, x, y, z, s, t, u, v, zero, a] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] as const;

/** Writes the doubling of (x : y : z). */
const writeDouble = (w: ProgramWriter, hasA: boolean): void => {
  const twice = (register: Register): void => w.sum(register, register, register);
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

/**
 * Writes the addition of the affine point (px, ownY) to (x : y : z), without the exceptional cases.
 */
const writeAdd = (w: ProgramWriter, ownY: Register): void => {
  // s = px·z² − x, t = ownY·z³ − y
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

/**
 * Writes the test whether points are in the group: k·P has to be the image of P under an
 * endomorphism. P is affine and k·P in Jacobian coordinates. Additions leave out the exceptional
 * cases: these occur only if the order of P divides m − 1, m or m + 1 for some even m < r − 1,
 * which r does not. The formulas then give Z = 0, which later steps keep, and the test rejects
 * points with Z = 0.
 */
export const membershipTest = (curve: CurveContext): Program => {
  const f = curve.coordinates;
  const w = new ProgramWriter(f);
  const { multiple, x: scaleX, y: scaleY, conjugates } = curve.membership ?? byOrder(curve);
  const hasA = !f.isZero(curve.a);
  if (hasA) w.constant(a, curve.a);
  w.constant(zero, f.zero);
  w.difference(minusPy, zero, py);
  w.move(x, px);
  w.move(y, py);
  w.constant(z, f.one);
  for (const digit of nonAdjacentForm(multiple < 0n ? -multiple : multiple).slice(1)) {
    writeDouble(w, hasA);
    if (digit !== 0) writeAdd(w, digit === 1 ? py : minusPy);
  }

  // compares x with scaleX·px·z² and y with scaleY·py·z³
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
