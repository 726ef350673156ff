import { isPrime } from '../field/prime.js';
import { power } from '../field/square-root.js';
import type { Curve, KnownCurve } from './curve.js';

/**
 * The ring of scalars of a curve: integers modulo the group order r. It is a field if r is prime.
 */
export interface ScalarField {
  /** The group order r. */
  readonly order: bigint;
  /** True if r is prime. Every curve of the registry has a prime r. */
  readonly isPrime: boolean;
  /**
   * The largest k for which 2^k divides r − 1; 0 if r is not prime. The longest radix-2 NTT has 2^k
   * elements.
   */
  readonly twoAdicity: number;
  /** An element of multiplicative order 2^twoAdicity; null if r is not prime. */
  readonly rootOfUnity: bigint | null;
}

/**
 * Derives the scalar field of a curve. The root of unity is z^((r − 1) / 2^k) for a quadratic
 * non-residue z: an odd power of a non-residue is a non-residue, so its order is 2^k and no less. z
 * is `scalarGenerator`, or else the least one.
 */
export const scalarFieldOf = ({
  order,
  scalarGenerator,
}: Pick<Curve, 'order'> & Pick<KnownCurve, 'scalarGenerator'>): ScalarField => {
  if (order % 2n === 0n || !isPrime(order)) return { order, isPrime: false, twoAdicity: 0, rootOfUnity: null };
  let [odd, twoAdicity] = [order - 1n, 0];
  for (; odd % 2n === 0n; odd /= 2n) twoAdicity++;
  let nonResidue = scalarGenerator ?? 2n;
  // Euler's criterion
  while (power(nonResidue, (order - 1n) / 2n, order) === 1n) nonResidue++;
  return { order, isPrime: true, twoAdicity, rootOfUnity: power(nonResidue, odd, order) };
};
