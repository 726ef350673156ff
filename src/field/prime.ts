import { power } from './square-root.js';

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
  let [odd, twos] = [p - 1n, 0];
  for (; odd % 2n === 0n; odd /= 2n) twos++;
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
