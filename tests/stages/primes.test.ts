/**
 * Every prime from 46 to 414 bits has its arithmetic: programs that no input makes overflow, and
 * that compute right.
 */
import { expect, test } from 'vitest';
import { digitsOf, joinLimbs, LIMB_BITS, mod, modulus } from '../../src/field/modulus.js';
import { isPrime } from '../../src/field/prime.js';
import { montgomeryProduct } from '../../src/field/product.js';
import { tightLimb } from '../../src/field/straight-line.js';
import { fieldView } from '../../src/field/wgsl.js';
import { fieldInverse, productLimbs, productWords } from '../reference/field.js';
import { primes, randomPrimes } from '../support/primes.js';

/** Whether the last multiple of p finds its column too full, and has it carried first. */
const carriesLastColumn = (p: bigint): boolean =>
  montgomeryProduct(modulus(p), false, []).program.statements.some(({ name }) => name.endsWith('last'));

const computes = (p: bigint): void => {
  const m = modulus(p);
  fieldView(m);
  const most = tightLimb(LIMB_BITS);
  const value = (sign: (i: number) => number, limb: number): number[] =>
    Array.from({ length: m.limbs }, (_, i) => (i === m.limbs - 1 ? 0 : sign(i) * limb));
  for (const sign of [() => 1, () => -1, (i: number) => (i % 2 === 0 ? 1 : -1)]) {
    const [loose, tight] = [value(sign, 2 * most), value(() => 1, most)];
    const canonical = digitsOf(p - 1n, LIMB_BITS, m.limbs);
    const [a, b] = [loose, tight].map((limbs) => joinLimbs(limbs, LIMB_BITS)) as [bigint, bigint];
    const product = joinLimbs(productLimbs(m, loose, tight, [canonical], 'worst'), LIMB_BITS);
    expect(mod(product, p)).toBe(mod(a * b * m.rInverse + 1n, p));
    const square = joinLimbs(productLimbs(m, tight, null, [], 'worst'), LIMB_BITS);
    expect(mod(square, p)).toBe(mod(b * b * m.rInverse, p));
  }
  for (const of of [m, modulus(p, 'unsigned')]) {
    expect((mod(fieldInverse(of, 2n), p) * 2n * of.rInverse ** 2n) % p).toBe(1n);
  }
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

test('some random primes have to carry their last column', () => {
  expect(randomPrimes(200, 1).filter(carriesLastColumn).length).toBeGreaterThan(0);
  expect(carriesLastColumn(primes['one with a full last column, 168 bits'] as bigint)).toBe(true);
});

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
