/**
 * Curves besides BN254, for tests that nothing bakes in its constants: taken from noble, so that no constant is typed in twice.
 * Each comes with what the oracle of dev/oracle needs to say the right answer.
 */

import { weierstrass } from '@noble/curves/abstract/weierstrass.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { p256 } from '@noble/curves/nist.js';
import type { Curve } from '../../src/curves/curve.js';
import type { OracleCurve } from './known-bases.js';

type PointClass = OracleCurve['Point'];

/** What noble knows of a curve, in the library's terms. */
const fromNoble = (name: string, Point: PointClass): Curve => {
  const { p, n, a, b, Gx, Gy } = Point.CURVE();
  return { name, p, order: n, a, b, generator: { x: Gx, y: Gy } };
};

const oracle = (name: string, Point: PointClass, coordinateBytes: number): OracleCurve => ({
  name,
  Point,
  coordinateBytes,
  scalarBytes: 32,
});

/** 381 bits: 30 limbs, 12 words, 96 bytes a point, which are no whole part of a 256-byte binding offset. */
export const bls12381 = fromNoble('bls12-381', bls12_381.G1.Point);
export const bls12381Oracle = oracle('bls12-381', bls12_381.G1.Point, 48);

/** a = −3: the doubling of the walk and the equation of the import have a term more. And an order just below 2^256. */
export const p256Curve = fromNoble('p256', p256.Point);
export const p256Oracle = oracle('p256', p256.Point, 32);

export const bn254FromNoble = fromNoble('bn254', bn254.G1.Point);

/**
 * 192 bits, that is 15 limbs (195 bits) in 8 words (256 bits): the words hold numbers that the limbs do not. NIST P-192, whose constants
 * (FIPS 186-4, D.1.2.1) noble no longer has; that the generator is on the curve and of the order below is checked by its tests.
 */
const P192 = weierstrass({
  p: 2n ** 192n - 2n ** 64n - 1n,
  n: 0xffffffffffffffffffffffff99def836146bc9b1b4d22831n,
  h: 1n,
  a: 2n ** 192n - 2n ** 64n - 4n,
  b: 0x64210519e59c80e70fa7e9ab72243049feb8deecc146b9b1n,
  Gx: 0x188da80eb03090f67cbf20eb43a18800f4ff0afd82ff1012n,
  Gy: 0x07192b95ffc8da78631011ed6b24cdd573f977a11e794811n,
});
export const secp192r1 = fromNoble('secp192r1', P192);
export const secp192r1Oracle = oracle('secp192r1', P192, 32);
