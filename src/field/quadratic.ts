/** Fields of p² elements, loaded for curves with coordinates in one. */
import type { Coordinate, Fp2 } from '../api/values.js';
import type { Field } from './field.js';
import { invert, type Modulus, mod } from './modulus.js';
import { quadraticPartials, quadraticView } from './quadratic-wgsl.js';
import { squareRoot } from './square-root.js';
import { fieldLiteral } from './statements.js';

/** Casts an element of this field. Callers pass no others. */
const pair = (a: Coordinate): Fp2 => a as Fp2;

/**
 * Largest |nonResidue|: shaders multiply by it in a chain of doublings and additions, and tests
 * cover these factors.
 */
export const MOST_NON_RESIDUE = 6n;

/**
 * Makes the field F_p[u] / (u² − nonResidue), whose elements are pairs c0 + c1·u.
 *
 * @throws RangeError if nonResidue is a square modulo p or too large
 */
export const quadraticField = (prime: Modulus, nonResidue: bigint): Field => {
  const { p } = prime;
  if (nonResidue < -MOST_NON_RESIDUE || nonResidue > MOST_NON_RESIDUE) {
    throw new RangeError(`nonResidue must be from −${MOST_NON_RESIDUE} to ${MOST_NON_RESIDUE}, got ${nonResidue}`);
  }
  if (squareRoot(nonResidue, p) !== null) throw new RangeError(`nonResidue ${nonResidue} is a square modulo p`);
  const reduced = ({ c0, c1 }: Fp2): Fp2 => ({ c0: mod(c0, p), c1: mod(c1, p) });
  /** Karatsuba: (a0 + a1)·(b0 + b1) minus the products of the coefficients is a0·b1 + a1·b0. */
  const product = (a: Fp2, b: Fp2): Fp2 => {
    const [low, high] = [a.c0 * b.c0, a.c1 * b.c1];
    return { c0: (low + nonResidue * high) % p, c1: ((a.c0 + a.c1) * (b.c0 + b.c1) - low - high) % p };
  };
  /** Returns the norm: the product with the conjugate, a number. */
  const norm = ({ c0, c1 }: Fp2): bigint => mod(c0 * c0 - nonResidue * c1 * c1, p);
  return {
    prime,
    degree: 2,
    nonResidue,
    size: p * p,
    words: 2 * prime.words,
    bytes: 2 * prime.bytes,
    zero: { c0: 0n, c1: 0n },
    one: { c0: 1n, c1: 0n },
    sum: (a, b) => ({ c0: pair(a).c0 + pair(b).c0, c1: pair(a).c1 + pair(b).c1 }),
    difference: (a, b) => ({ c0: pair(a).c0 - pair(b).c0, c1: pair(a).c1 - pair(b).c1 }),
    multiple: (a, factor) => ({ c0: pair(a).c0 * factor, c1: pair(a).c1 * factor }),
    product: (a, b) => product(pair(a), pair(b)),
    isZero: (a) => pair(a).c0 % p === 0n && pair(a).c1 % p === 0n,
    reduced: (a) => reduced(pair(a)),
    inverse: (a) => {
      const inverse = invert(norm(pair(a)), p);
      return reduced({ c0: pair(a).c0 * inverse, c1: -pair(a).c1 * inverse });
    },
    coefficients: (a) => [pair(a).c0, pair(a).c1],
    of: ([c0, c1]) => ({ c0: c0 as bigint, c1: c1 as bigint }),
    over: (other) => quadraticField(other, nonResidue),
    view: () => quadraticView(prime, nonResidue),
    partials: quadraticPartials,
    literal: (a) => [pair(a).c0, pair(a).c1].map((value) => `PrimeTight(${fieldLiteral(prime, value)})`).join(', '),
  };
};
