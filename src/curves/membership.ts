/** Tests of membership in the group of order r, for programs of the GPU and for the CPU. */
import type { Coordinate } from '../api/values.js';
import type { CurveContext, Membership } from './curve.js';
import type { Affine } from './jacobian.js';

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
