/** The scalar fields of all named curves: roots of unity for NTTs. */
import { rootsOfUnity } from '@noble/curves/abstract/fft.js';
import { Field } from '@noble/curves/abstract/modular.js';
import { describe, expect, test } from 'vitest';
import { curveNames, oracles } from '../../dev/oracle/curves.js';
import { scalarFieldOf } from '../../src/curves/scalar-field.js';
import { isProbablyPrime } from '../support/primes.js';

const power = (base: bigint, exponent: bigint, m: bigint): bigint => {
  let [result, square] = [1n, base % m];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % m;
    square = (square * square) % m;
  }
  return result;
};

describe.each(curveNames)('the scalar field of %s', (name) => {
  const r = oracles[name].Point.Fn.ORDER;
  const { order, twoAdicity, rootOfUnity } = scalarFieldOf({ order: r });

  test('is prime, with the two-adicity of noble', () => {
    expect(isProbablyPrime(r)).toBe(true);
    expect({ order, twoAdicity }).toEqual({
      order: r,
      twoAdicity: rootsOfUnity(Field(r)).info.powerOfTwo,
    });
  });

  test('has a root of unity of order 2^twoAdicity and no less', () => {
    const root = rootOfUnity as bigint;
    expect(power(root, 2n ** BigInt(twoAdicity), r)).toBe(1n);
    // an element of order 2^k squared k − 1 times is −1, the only element of order 2
    expect(power(root, 2n ** BigInt(twoAdicity - 1), r)).toBe(r - 1n);
  });
});

test.each([
  ['bn254', 28],
  ['bls12-381', 32],
  ['bls12-377', 47],
  ['grumpkin', 1],
  ['pallas', 32],
  ['vesta', 32],
  ['ed25519', 2],
] as const)('%s has the two-adicity that its specification names: %i', (name, twoAdicity) => {
  expect(scalarFieldOf({ order: oracles[name].Point.Fn.ORDER }).twoAdicity).toBe(twoAdicity);
});

test.each([4n, 9n, 15n, 561n, 2n ** 61n + 1n, 2n ** 128n, oracles.bn254.Point.Fn.ORDER * 3n])(
  'an order that is not prime, %d, has no root of unity',
  (order) => {
    expect(scalarFieldOf({ order })).toEqual({ order, twoAdicity: 0, rootOfUnity: null });
  },
);

test.each([
  [3n, 1, 2n],
  [5n, 2, 2n],
  [7n, 1, 6n],
  [17n, 4, 3n],
])('small prime orders work: %d', (order, twoAdicity, rootOfUnity) => {
  expect(scalarFieldOf({ order })).toEqual({ order, twoAdicity, rootOfUnity });
});
