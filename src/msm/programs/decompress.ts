import type { Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import type { RootSign } from '../../curves/point-source.js';
import type { Field } from '../../field/field.js';
import { squareRootIn } from '../../field/square-root.js';
import { type Program, ProgramWriter } from '../stages/program.js';
import { writePower } from './power.js';

/** Returns base^exponent by square and multiply. */
const power = (f: Field, base: Coordinate, exponent: bigint): Coordinate => {
  let result = f.one;
  for (const bit of exponent.toString(2)) {
    result = f.product(result, result);
    if (bit === '1') result = f.product(result, base);
  }
  return f.reduced(result);
};

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
  let [odd, twos] = [f.size - 1n, 0];
  for (; odd % 2n === 0n; odd /= 2n) twos++;
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
  let factor = twos > 1 ? power(f, nonSquare(f), odd) : f.one;
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
