import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { Random } from '../../dev/oracle/known-bases.js';

/**
 * Fields of all lengths. Where noble has the prime, it is noble's, so that a typing mistake of ours
 * cannot hide.
 */
export const primes: Readonly<Record<string, bigint>> = {
  'BN254 base, 254 bits': bn254.fields.Fp.ORDER,
  '2^255 - 19': ed25519.Point.Fp.ORDER,
  'P-256, 256 bits': p256.Point.Fp.ORDER,
  // S. Bowe et al., "Zexe" (eprint 2018/962)
  'BLS12-377 base, 377 bits':
    0x01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001n,
  'BLS12-381 base, 381 bits': bls12_381.fields.Fp.ORDER,
  // the shortest and the longest kind
  '2^61 - 1': 2n ** 61n - 1n,
  '2^414 - 17': 2n ** 414n - 17n,
  // the last column of its products is full when the last multiple of p comes, and has to be
  // carried first
  'one with a full last column, 168 bits': 0x961d3f5a70dfee36117b406dce5d5523a857a91bb5n,
};

/** Trial divisors: most numbers that are no primes have one of these. */
const small = [
  3n,
  5n,
  7n,
  11n,
  13n,
  17n,
  19n,
  23n,
  29n,
  31n,
  37n,
  41n,
  43n,
  47n,
  53n,
  59n,
  61n,
  67n,
  71n,
  73n,
  79n,
  83n,
  89n,
  97n,
];

const power = (base: bigint, exponent: bigint, m: bigint): bigint => {
  let [result, square] = [1n, base % m];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % m;
    square = (square * square) % m;
  }
  return result;
};

/**
 * Miller and Rabin's test with bases 2, 3 and 5: the chance that a random number passes and is no
 * prime is far below 2^-40.
 */
export const isProbablyPrime = (n: bigint): boolean => {
  if (small.some((divisor) => n % divisor === 0n)) return false;
  let [odd, twos] = [n - 1n, 0];
  for (; odd % 2n === 0n; odd /= 2n) twos++;
  return [2n, 3n, 5n].every((base) => {
    let x = power(base, odd, n);
    if (x === 1n || x === n - 1n) return true;
    for (let i = 1; i < twos; i++) {
      x = (x * x) % n;
      if (x === n - 1n) return true;
    }
    return false;
  });
};

/**
 * Primes of all lengths that the library takes, 46 to 414 bits, in turns; the same for the same
 * seed.
 */
export const randomPrimes = (count: number, seed: number): bigint[] => {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => {
    const below = 45 + ((37 * i) % 369);
    for (;;) {
      const candidate = (1n << BigInt(below)) + (random.bits(below) | 1n);
      if (isProbablyPrime(candidate)) return candidate;
    }
  });
};
