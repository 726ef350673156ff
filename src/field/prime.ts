import { power } from './square-root.js';

/** Rounds of the test: each lets at most one composite in four pass, whichever it is. */
const ROUNDS = 10;

/** Bases are drawn below; a prime of a curve is larger. */
const BASE_END = 2 ** 45;

/**
 * Whether an odd number above 2^45 is prime: Miller (1976) and Rabin (1980), with bases drawn at random, so that no
 * number passes by construction.
 */
export const isPrime = (p: bigint): boolean => {
  let [odd, twos] = [p - 1n, 0];
  for (; odd % 2n === 0n; odd /= 2n) twos++;
  for (let round = 0; round < ROUNDS; round++) {
    let value = power(BigInt(2 + Math.floor(Math.random() * (BASE_END - 2))), odd, p);
    for (let k = 1; k < twos && value !== 1n && value !== p - 1n; k++) {
      value = (value * value) % p;
      if (value === 1n) return false;
    }
    if (value !== 1n && value !== p - 1n) return false;
  }
  return true;
};
