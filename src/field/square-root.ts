import { mod } from './modulus.js';

const power = (base: bigint, exponent: bigint, p: bigint): bigint => {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % p;
    if (bit === '1') result = (result * base) % p;
  }
  return result;
};

/** A root of a modulo the prime p; null if there is none. Tonelli (1891) and Shanks (1973): p − 1 = odd · 2^twos. */
export const squareRoot = (a: bigint, p: bigint): bigint | null => {
  let [odd, twos] = [p - 1n, 0];
  for (; odd % 2n === 0n; odd /= 2n) twos++;
  const root = power(mod(a, p), (odd - 1n) / 2n, p);
  let found = (root * mod(a, p)) % p;
  // found² = a · rest, and rest has an order of 2^k for some k
  let rest = (found * root) % p;
  if (rest === 0n) return 0n;
  let generator: bigint | null = null;
  while (rest !== 1n) {
    let k = 0;
    for (let square = rest; square !== 1n; k++) {
      if (k === twos) return null;
      square = (square * square) % p;
    }
    // an order of 2^twos is that of no square
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
