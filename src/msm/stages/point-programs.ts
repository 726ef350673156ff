/** Straight-line programs on points, run alike on GPU and CPU: roots, maps of curves, membership in the group. */
import type { Coordinate } from '../../api/values.js';
import type { CurveContext, Membership, TwistedEdwards } from '../../curves/curve.js';
import { mapConstants } from '../../curves/edwards.js';
import { nonAdjacentForm } from '../../curves/jacobian.js';
import type { RootSign } from '../../curves/point-source.js';
import type { Field } from '../../field/field.js';
import { invert, mod } from '../../field/modulus.js';
import { ODD_POWERS, oddPartOf, type PowerStep, powerIn, powerSteps, squareRootIn } from '../../field/powers.js';
import { type Program, ProgramWriter, type Register } from './program.js';

/**
 * Returns an element without a square root. In a field of pairs every number has one, so it is a
 * pair there.
 */
const nonSquare = (f: Field): Coordinate => {
  for (let i = 1n; ; i++) {
    const candidate = f.of(f.degree === 1 ? [i] : [i, 1n]);
    if (squareRootIn(f, candidate) === null) return candidate;
  }
};

/**
 * Writes the program that computes y of compressed points, a root of x³ + a·x + b by Tonelli (1891)
 * and Shanks (1973), with the same steps for every point; the field has odd · 2^twos + 1 elements.
 * A point arrives with a plain x and Y_EVEN or Y_ODD in place of y, and leaves with plain
 * coordinates for the import. If there is no root, the import finds the point off the curve.
 */
export const decompression = (curve: CurveContext, sign: RootSign): Program => {
  const f = curve.coordinates;
  const w = new ProgramWriter(f);
  const { odd, twos } = oddPartOf(f.size - 1n);
  const [x, y, square, rest, constant, test] = [0, 1, 2, 3, 4, 5] as const;
  // registers for odd powers: those that are free until the power is computed
  const odds = [square, y, constant, test, 6, 7, 8, 9];

  w.number(constant, curve.field.r2);
  w.product(x, x, constant);
  w.product(square, x, x);
  if (!f.isZero(curve.a)) {
    w.constant(constant, curve.a);
    w.sum(square, square, constant);
  }
  w.product(square, square, x);
  w.constant(constant, curve.b);
  w.sum(square, square, constant);

  if (odd === 1n) w.constant(rest, f.one);
  else writePower(w, rest, odds, (odd - 1n) / 2n);
  w.product(y, square, rest);
  w.product(rest, y, rest);
  // y² = square · rest; if there is a root, the order of rest is 2^k with k < twos, and each turn
  // lowers the bound on k
  let factor = twos > 1 ? powerIn(f, nonSquare(f), odd) : f.one;
  for (let k = twos; k >= 2; k--) {
    w.squares(test, rest, k - 2);
    w.constant(constant, f.one);
    w.difference(test, test, constant);
    w.constant(constant, factor);
    w.product(constant, y, constant);
    w.moveUnlessZero(y, constant, test);
    factor = f.reduced(f.product(factor, factor));
    w.constant(constant, factor);
    w.product(constant, rest, constant);
    w.moveUnlessZero(rest, constant, test);
  }

  // y is larger than −y if 2·y mod p is odd, because p is odd
  w.number(constant, sign === 'odd' ? 1n : 2n);
  w.product(test, y, constant);
  w.number(constant, 1n);
  w.product(x, x, constant);
  w.product(y, y, constant);
  // y = 0 has no other sign: it stays where the smaller root is asked for, and becomes −2, which is
  // no root, where the larger is
  w.choose(rest, constant, test);
  w.difference(rest, rest, constant);
  w.choose(y, y, test);
  w.moveUnlessZero(rest, y, y);
  w.move(y, rest);
  return w.program();
};

/**
 * Writes the program that maps points of a twisted Edwards curve to their Weierstrass image
 * (src/curves/edwards.ts), from coordinates times `scale` to plain coordinates for the import. It
 * rejects points off the curve, and (0, 1) becomes infinity. The inverse is computed as a power, so
 * that the inverse of 0 is 0.
 */
export const edwardsImage = (curve: CurveContext, scale: bigint): Program => {
  const { coordinates: f, p, field } = curve;
  const { a, d } = curve.edwards as TwistedEdwards;
  const { third, unit } = mapConstants(curve.edwards as TwistedEdwards, p);
  const w = new ProgramWriter(f);
  const [x, y, s, t, one, above, constant, inverse, base] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
  const odds = [base, s, t, one, constant, 9, 10, 11];

  w.number(constant, scale === 1n ? field.r2 : mod(field.r2 * invert(scale, p), p));
  w.product(x, x, constant);
  w.product(y, y, constant);

  // a·x² + y² − 1 − d·x²·y²
  w.constant(one, 1n);
  w.product(s, x, x);
  w.product(t, y, y);
  w.constant(constant, d);
  w.product(constant, constant, s);
  w.product(constant, constant, t);
  w.difference(t, t, constant);
  w.constant(constant, a);
  w.product(s, s, constant);
  w.sum(s, s, t);
  w.difference(s, s, one);
  w.requireZero(s);

  w.difference(above, one, y);
  w.product(base, above, x);
  writePower(w, inverse, odds, p - 2n);
  // s = v, t = u
  w.constant(one, 1n);
  w.sum(s, one, y);
  w.product(s, s, inverse);
  w.product(t, s, x);
  w.constant(constant, third);
  w.sum(t, t, constant);
  w.constant(constant, unit);
  w.product(s, s, constant);
  w.product(t, t, constant);
  w.number(constant, 1n);
  w.product(s, s, constant);
  w.product(t, t, constant);
  // 1 − y is 0 only for (0, 1)
  w.constant(x, 0n);
  w.constant(y, 0n);
  w.moveUnlessZero(x, t, above);
  w.moveUnlessZero(y, s, above);
  return w.program();
};

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

/**
 * Writes to = base^exponent, in Montgomery form, by sliding windows.
 *
 * @param odd registers for the odd powers; the first holds the base
 * @param exponent at least 1
 */
const writePower = (w: ProgramWriter, to: Register, odd: readonly Register[], exponent: bigint): void => {
  const [base] = odd as [Register];
  w.product(to, base, base);
  for (let i = 1; i < ODD_POWERS; i++) w.product(odd[i] as Register, odd[i - 1] as Register, to);
  const [first, ...steps] = powerSteps(exponent) as [PowerStep, ...PowerStep[]];
  w.move(to, odd[first.odd as number] as Register);
  for (const { squares, odd: power } of steps) {
    if (power === null) w.squares(to, to, squares);
    else w.product(to, to, odd[power] as Register, squares);
  }
};
