import type { CurveContext, TwistedEdwards } from '../../curves/curve.js';
import { mapConstants } from '../../curves/edwards.js';
import { invert, mod } from '../../field/modulus.js';
import { type Program, ProgramWriter } from '../stages/program.js';
import { writePower } from './power.js';

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
