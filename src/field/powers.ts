/**
 * Powers modulo a prime, and what is computed from them: square roots, the test of primality, and the
 * steps of a power with a fixed exponent.
 */
import type { Coordinate, Fp2 } from '../api/values.js';
import type { Field } from './field.js';
import { invert, mod } from './modulus.js';

/** Returns base^exponent modulo p. */
export const power = (base: bigint, exponent: bigint, p: bigint): bigint => {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % p;
    if (bit === '1') result = (result * base) % p;
  }
  return result;
};

/** A prime field with roots of unity: the largest order, a power of two, is 2^twoAdicity. */
interface RootsOfUnity {
  readonly p: bigint;
  readonly twoAdicity: number;
  /** A root of that order. */
  readonly rootOfUnity: bigint;
}

/** Returns the root of unity of order n, a power of two that the field has roots of. */
export const rootOfOrder = ({ p, twoAdicity, rootOfUnity }: RootsOfUnity, n: number): bigint =>
  power(rootOfUnity, 2n ** BigInt(twoAdicity) / BigInt(n), p);

/** Returns base^exponent in a field, reduced. */
export const powerIn = (field: Field, base: Coordinate, exponent: bigint): Coordinate => {
  let result = field.one;
  for (const bit of exponent.toString(2)) {
    result = field.product(result, result);
    if (bit === '1') result = field.product(result, base);
  }
  return field.reduced(result);
};

/** Returns the odd number and the exponent with which a number above 0 is odd · 2^twos. */
export const oddPartOf = (value: bigint): { readonly odd: bigint; readonly twos: number } => {
  let [odd, twos] = [value, 0];
  for (; odd % 2n === 0n; odd /= 2n) twos++;
  return { odd, twos };
};

/**
 * Returns a square root of a modulo the prime p; null if there is none. Tonelli (1891) and Shanks
 * (1973), with p − 1 = odd · 2^twos.
 */
export const squareRoot = (a: bigint, p: bigint): bigint | null => {
  const { odd, twos } = oddPartOf(p - 1n);
  const root = power(mod(a, p), (odd - 1n) / 2n, p);
  let found = (root * mod(a, p)) % p;
  // invariant: found² = a · rest, and the order of rest is a power of two
  let rest = (found * root) % p;
  if (rest === 0n) return 0n;
  let generator: bigint | null = null;
  while (rest !== 1n) {
    let k = 0;
    for (let square = rest; square !== 1n; k++) {
      if (k === twos) return null;
      square = (square * square) % p;
    }
    // no square has the order 2^twos
    if (k === twos) return null;
    for (let z = 2n; generator === null; z++) {
      if (power(z, (p - 1n) / 2n, p) !== 1n) generator = power(z, odd, p);
    }
    const factor = power(generator, 1n << BigInt(twos - k - 1), p);
    found = (found * factor) % p;
    rest = (rest * factor * factor) % p;
  }
  return found;
};

/**
 * Returns a square root of c0 + c1·u. With a root n of the norm, (c0 + n) / 2 and (c0 − n) / 2 are
 * x² and nonResidue·y² of the root x + y·u; one of them is a square. Source: Adj and
 * Rodríguez-Henríquez, "Square root computation over even extension fields",
 * https://eprint.iacr.org/2012/685, section 5 (the complex method).
 */
const rootOfPair = ({ c0, c1 }: Fp2, p: bigint, nonResidue: bigint): Fp2 | null => {
  if (c1 === 0n) {
    const x = squareRoot(c0, p);
    if (x !== null) return { c0: x, c1: 0n };
    return { c0: 0n, c1: squareRoot(c0 * invert(nonResidue, p), p) as bigint };
  }
  const n = squareRoot(c0 * c0 - nonResidue * c1 * c1, p);
  if (n === null) return null;
  const half = (p + 1n) / 2n;
  for (const square of [c0 + n, c0 - n]) {
    const x = squareRoot(square * half, p);
    if (x !== null && x !== 0n) return { c0: x, c1: mod(c1 * half * invert(x, p), p) };
  }
  return null;
};

/** Returns a reduced square root in the field; null if there is none. */
export const squareRootIn = (field: Field, a: Coordinate): Coordinate | null => {
  const { p } = field.prime;
  return field.nonResidue === null
    ? squareRoot(a as bigint, p)
    : rootOfPair(field.reduced(a) as Fp2, p, field.nonResidue);
};

/** Rounds of the test. Each lets a composite number pass with probability at most 1/4. */
const ROUNDS = 10;

/** Upper end of the range of bases, which keeps them exact as doubles. */
const BASE_END = 2 ** 45;

/**
 * Returns whether a number above 1 is prime, with an error probability of at most 4^−10: Miller
 * (1976) and Rabin (1980). The bases are random, so that no composite number passes by
 * construction.
 */
export const isPrime = (p: bigint): boolean => {
  if (p % 2n === 0n) return p === 2n;
  const { odd, twos } = oddPartOf(p - 1n);
  const end = Math.min(BASE_END, Number(p) - 1);
  for (let round = 0; round < ROUNDS; round++) {
    let value = power(BigInt(2 + Math.floor(Math.random() * (end - 2))), odd, p);
    for (let k = 1; k < twos && value !== 1n && value !== p - 1n; k++) {
      value = (value * value) % p;
      if (value === 1n) return false;
    }
    if (value !== 1n && value !== p - 1n) return false;
  }
  return true;
};

/** Powers with a fixed exponent, by sliding windows of four bits (Knuth, TAOCP 4.6.3). */

const WINDOW_BITS = 4;

/** Odd powers of a base that windows need: those with the exponents 1, 3, 5, …, 15. */
export const ODD_POWERS = 2 ** (WINDOW_BITS - 1);

/** One step: squarings, and the odd power to multiply by then, by its index; null for none. */
export interface PowerStep {
  readonly squares: number;
  readonly odd: number | null;
}

/** Returns the steps for an exponent of at least 1. The first step has a power to begin with. */
export const powerSteps = (exponent: bigint): readonly PowerStep[] => {
  const bits = exponent.toString(2);
  const steps: PowerStep[] = [];
  let squares = 0;
  for (let at = 0; at < bits.length; ) {
    if (bits[at] === '0') {
      squares++;
      at++;
      continue;
    }
    // the longest window that ends with a 1
    const window = bits.slice(at, at + WINDOW_BITS).replace(/0+$/, '');
    steps.push({ squares: squares + window.length, odd: (Number.parseInt(window, 2) - 1) / 2 });
    squares = 0;
    at += window.length;
  }
  return squares === 0 ? steps : [...steps, { squares, odd: null }];
};
