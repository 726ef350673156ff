/**
 * Curves of twisted Edwards form, a·x² + y² = 1 + d·x²·y², by their images of Weierstrass form, on which everything is computed. Points come and go in
 * the coordinates of the caller's. Bernstein, Birkner, Joye, Lange, Peters, "Twisted Edwards Curves", https://eprint.iacr.org/2008/013, section 3: with
 * B·v² = u³ + A·u² + u in between, u = (1 + y) / (1 − y), v = u / x; then X = (u + A/3) / B, Y = v / B.
 */
import type { AffinePoint, Coordinate } from '../api/values.js';
import { MsmError } from '../errors.js';
import { invert, mod } from '../field/modulus.js';
import type { CurveContext, EdwardsCurve, KnownCurve, TwistedEdwards } from './curve.js';
import type { Affine } from './jacobian.js';

/** Numbers between the two forms. */
interface Passing {
  /** A / 3. */
  readonly third: bigint;
  /** B, and 1 / B. */
  readonly scale: bigint;
  readonly unit: bigint;
}

export const passing = ({ a, d }: TwistedEdwards, p: bigint): Passing => {
  const unit = mod((a - d) * invert(4n, p), p);
  const sum = mod(2n * (a + d) * invert(a - d, p), p);
  return { third: mod(sum * invert(3n, p), p), scale: invert(unit, p), unit };
};

/** Whether (x, y) satisfies the equation. */
export const isOnEdwards = ({ a, d }: TwistedEdwards, p: bigint, x: bigint, y: bigint): boolean =>
  mod(a * x * x + y * y - 1n - d * x * x * y * y, p) === 0n;

/** The image of a point of the curve; (0, 1) is infinity. */
const image = (curve: TwistedEdwards, p: bigint, x: bigint, y: bigint): { x: bigint; y: bigint } | null => {
  if (mod(y, p) === 1n) return null;
  const { third, unit } = passing(curve, p);
  // of (0, −1), which is of order 2, it is 0, as the inverse is
  const v = (1n + y) * invert((1n - y) * x, p);
  return { x: mod((v * x + third) * unit, p), y: mod(v * unit, p) };
};

export const imageOf = ({ edwards, p }: CurveContext, x: Coordinate, y: Coordinate): Affine =>
  image(edwards as TwistedEdwards, p, x as bigint, y as bigint);

/**
 * The point that a sum is the image of.
 *
 * @throws MsmError `not-in-subgroup` where it has none, as points of even order may have had a part in it
 */
export const originalOf = ({ edwards, p, name }: CurveContext, point: AffinePoint<Coordinate>): AffinePoint => {
  if (point.infinity) return { x: 0n, y: 1n, infinity: true };
  const { third, scale } = passing(edwards as TwistedEdwards, p);
  const [u, v] = [(point.x as bigint) * scale - third, (point.y as bigint) * scale];
  const original = { x: mod(u * invert(v, p), p), y: mod((u - 1n) * invert(u + 1n, p), p), infinity: false };
  if (mod(u, p) === 0n) return { ...original, x: 0n, y: p - 1n };
  if (mod(v, p) !== 0n && mod(u + 1n, p) !== 0n) return original;
  throw new MsmError(
    'not-in-subgroup',
    `the sum has no affine coordinates on ${name}: a base is not in its group of order r`,
  );
};

/** The curve that is computed on. */
export const weierstrassOf = ({ name, p, order, edwards }: EdwardsCurve): KnownCurve => {
  const { third, unit } = passing(edwards, p);
  const { x, y } = edwards.generator;
  return {
    name,
    p,
    order,
    a: mod((1n - 3n * third * third) * unit ** 2n, p),
    b: mod((2n * third ** 3n - third) * unit ** 3n, p),
    generator: image(edwards, p, x, y) as { x: bigint; y: bigint },
    edwards,
  };
};
