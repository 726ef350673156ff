/**
 * Maps between twisted Edwards curves a·x² + y² = 1 + d·x²·y² and their images of Weierstrass form,
 * on which the library computes. Callers pass and receive Edwards coordinates. Source: Bernstein,
 * Birkner, Joye, Lange, Peters, "Twisted Edwards Curves", https://eprint.iacr.org/2008/013, section
 * 3. By way of the Montgomery curve B·v² = u³ + A·u² + u: u = (1 + y) / (1 − y), v = u / x; then X
 * = (u + A/3) / B, Y = v / B.
 */
import type { AffinePoint, Coordinate } from '../api/values.js';
import { MsmError } from '../errors.js';
import { invert, mod } from '../field/modulus.js';
import type { CurveContext, EdwardsCurve, KnownCurve, TwistedEdwards } from './curve.js';
import type { Affine } from './jacobian.js';

/** Constants of the maps. */
interface MapConstants {
  /** A / 3 modulo p. */
  readonly third: bigint;
  /** B. */
  readonly scale: bigint;
  /** 1 / B modulo p. */
  readonly unit: bigint;
}

export const mapConstants = ({ a, d }: TwistedEdwards, p: bigint): MapConstants => {
  const unit = mod((a - d) * invert(4n, p), p);
  const sum = mod(2n * (a + d) * invert(a - d, p), p);
  return { third: mod(sum * invert(3n, p), p), scale: invert(unit, p), unit };
};

/** Returns whether (x, y) satisfies the equation of a twisted Edwards curve. */
export const isOnEdwards = ({ a, d }: TwistedEdwards, p: bigint, x: bigint, y: bigint): boolean =>
  mod(a * x * x + y * y - 1n - d * x * x * y * y, p) === 0n;

/** Returns the image of a point of the curve; null for (0, 1), whose image is infinity. */
const image = (curve: TwistedEdwards, p: bigint, x: bigint, y: bigint): { x: bigint; y: bigint } | null => {
  if (mod(y, p) === 1n) return null;
  const { third, unit } = mapConstants(curve, p);
  // 0 for (0, −1), a point of order 2, because invert(0) is 0
  const v = (1n + y) * invert((1n - y) * x, p);
  return { x: mod((v * x + third) * unit, p), y: mod(v * unit, p) };
};

/** Returns the image of a point in Edwards coordinates. */
export const imageOf = ({ edwards, p }: CurveContext, x: Coordinate, y: Coordinate): Affine =>
  image(edwards as TwistedEdwards, p, x as bigint, y as bigint);

/**
 * Returns the point in Edwards coordinates whose image is a sum.
 *
 * @throws MsmError `not-in-subgroup` if there is none, which takes an input of even order
 */
export const originalOf = ({ edwards, p, name }: CurveContext, point: AffinePoint<Coordinate>): AffinePoint => {
  if (point.infinity) return { x: 0n, y: 1n, infinity: true };
  const { third, scale } = mapConstants(edwards as TwistedEdwards, p);
  const [u, v] = [(point.x as bigint) * scale - third, (point.y as bigint) * scale];
  const original = { x: mod(u * invert(v, p), p), y: mod((u - 1n) * invert(u + 1n, p), p), infinity: false };
  if (mod(u, p) === 0n) return { ...original, x: 0n, y: p - 1n };
  if (mod(v, p) !== 0n && mod(u + 1n, p) !== 0n) return original;
  throw new MsmError(
    'not-in-subgroup',
    `the sum has no affine coordinates on ${name}: a base is not in the group of order r`,
  );
};

/** Returns the Weierstrass curve that is the image of a twisted Edwards curve. */
export const weierstrassOf = ({ name, p, order, edwards }: EdwardsCurve): KnownCurve => {
  const { third, unit } = mapConstants(edwards, p);
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
