/**
 * The points at which polynomials are opened, and the factors of the opening. Gabizon and
 * Williamson, "fflonk" (https://eprint.iacr.org/2021/1167), sections 3 and 7; the batched opening:
 * Boneh, Drake, Fisch and Gabizon (https://eprint.iacr.org/2020/081), section 4.1.
 *
 * C0, C1 and C2 have 8, 4 and 3 interleaved polynomials. C0 is opened at the roots of X^8 − ξ, C1
 * at those of X^4 − ξ, C2 at those of (X³ − ξ)·(X³ − ξω). No root itself is needed: an interleaved
 * polynomial has the values of its parts at ξ as the coefficients of its remainder.
 */
import { invert, mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import type { Domain } from '../proofs/plonkish/domain.js';

/** The field and the domain of a circuit. */
export interface OpenedCircuit {
  readonly p: bigint;
  readonly domain: Pick<Domain, 'n' | 'root'>;
}

/** ξ and ξ·ω. */
export interface OpenedAt {
  readonly xi: bigint;
  readonly xiw: bigint;
}

/** Exponent for which ξ has roots of the orders 8, 4 and 3: their least common multiple. */
const SEED_EXPONENT = 24n;

/** Returns the points for a challenge. */
export const openedAt = ({ p, domain }: OpenedCircuit, seed: bigint): OpenedAt => {
  const xi = power(seed, SEED_EXPONENT, p);
  return { xi, xiw: mod(xi * domain.root, p) };
};

/** Values at y of the polynomials that vanish where C0, C1 and C2 are opened. */
export const vanishingAt = (p: bigint, { xi, xiw }: OpenedAt, y: bigint): readonly [bigint, bigint, bigint] => {
  const cube = power(y, 3n, p);
  return [mod(power(y, 8n, p) - xi, p), mod(power(y, 4n, p) - xi, p), mod((cube - xi) * (cube - xiw), p)];
};

/** Returns the factors of C0, C1 and C2 in the opening at y. */
export const factorsOf = (
  p: bigint,
  alpha: bigint,
  [v0, v1, v2]: readonly [bigint, bigint, bigint],
): readonly [bigint, bigint, bigint] => [
  1n,
  mod(alpha * mod(v0 * invert(v1, p), p), p),
  mod(alpha * alpha * mod(v0 * invert(v2, p), p), p),
];

/**
 * Returns the inverse of the product of all denominators of the verifier contract that snarkjs
 * writes: of ξⁿ − 1, of the first Lagrange polynomials of the domain at ξ, of the factors of the
 * opening, and of the Lagrange polynomials of each set of roots at y. The products over the roots
 * of X^k − c follow from k and c.
 */
export const inverseOfDenominators = (
  { p, domain: { n, root } }: OpenedCircuit,
  { xi, xiw }: OpenedAt,
  [v0, v1, v2]: readonly [bigint, bigint, bigint],
  publicSignals: number,
): bigint => {
  const times = (...factors: readonly bigint[]): bigint => factors.reduce((all, each) => mod(all * each, p), 1n);
  const raised = (base: bigint | number, exponent: number): bigint => power(mod(BigInt(base), p), BigInt(exponent), p);
  const of8 = times(-1n, raised(8, 8), raised(xi, 7), v0);
  const of4 = times(-1n, raised(4, 4), raised(xi, 3), v1);
  const of3 = times(-1n, raised(27, 2), raised(xi, 2), raised(xiw, 2), raised(xi - xiw, 6), v2);
  let all = times(raised(xi, n) - 1n, v1, v2, of8, of4, of3);
  let each = 1n;
  // the contract divides by the first even without public signals
  for (let i = 0; i < Math.max(publicSignals, 1); i++) {
    all = times(all, BigInt(n), xi - each);
    each = times(each, root);
  }
  return invert(all, p);
};
