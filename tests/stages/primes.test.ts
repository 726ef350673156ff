/**
 * Every prime from 46 to 414 bits has its arithmetic: programs that no input makes overflow, and
 * that compute right.
 */
import { expect, test } from 'vitest';
import { mod, modulus } from '../../src/field/modulus.js';
import { isPrime } from '../../src/field/powers.js';
import { fieldView } from '../../src/field/wgsl.js';
import { fieldInverse, productWords } from '../reference/field.js';
import { primes, randomPrimes } from '../support/primes.js';

const computes = (p: bigint): void => {
  const m = modulus(p);
  fieldView(m);
  expect((mod(fieldInverse(m, 2n), p) * 2n * m.rInverse ** 2n) % p).toBe(1n);
  // their programs are run as text, which takes a tenth of a second: one in 32
  if (p % 64n !== 1n) return;
  for (const product of ['unsigned', 'dot4', 'fma'] as const) {
    const of = modulus(p, product);
    fieldView(of);
    const most = 2n * p - 1n;
    for (const other of [p - 1n, null]) {
      const got = productWords(of, most, other);
      expect(mod(got, p)).toBe(mod(most * (other ?? most) * of.rInverse, p));
      expect(got).toBeLessThanOrEqual(most);
    }
  }
};

test('`isPrime` distinguishes primes from composites', () => {
  const all = [...Object.values(primes), ...randomPrimes(20, 4)];
  for (const [i, p] of all.entries()) {
    expect(isPrime(p), `${p}`).toBe(true);
    expect(isPrime(p * (all[(i + 1) % all.length] as bigint)), `${p} times another`).toBe(false);
    expect(isPrime(p * p), `${p} squared`).toBe(false);
  }
});

test.each(randomPrimes(60, 2).map((p) => `0x${p.toString(16)}`))('%s', (p) => computes(BigInt(p)));

test('500 random primes compute right', { tags: 'long' }, () => {
  for (const p of randomPrimes(500, 3)) {
    try {
      computes(p);
    } catch (error) {
      throw new Error(`0x${p.toString(16)}: ${(error as Error).message}`, { cause: error });
    }
  }
});
