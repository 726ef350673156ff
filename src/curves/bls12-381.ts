import type { KnownCurve } from './curve.js';

/**
 * BLS12-381 G1, y² = x³ + 4. The cofactor is about 2^126. Points of the curve outside of the group
 * are accepted unless `checkSubgroup` is set.
 *
 * Source: draft-irtf-cfrg-pairing-friendly-curves-11, section 4.2.1; p(x) and r(x) of the BLS12
 * family for x = −0xd201000000010000.
 */
export const bls12381: KnownCurve = {
  name: 'bls12-381',
  p: 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn,
  order: 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n,
  a: 0n,
  b: 4n,
  generator: {
    x: 0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bbn,
    y: 0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1n,
  },
  encodings: ['eip2537', 'zcash', 'zcash-compressed', 'ark', 'ark-compressed', 'gnark', 'gnark-compressed'],
  // φ: (x, y) to (β·x, y) with β³ = 1 is multiplication by −s² in the group, with the seed s: φ² +
  // φ + 1 = 0, and s⁴ − s² + 1 = r (Scott, https://eprint.iacr.org/2021/1130)
  membership: {
    multiple: -(0xd201000000010000n ** 2n),
    x: 0x5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffen,
    y: 1n,
    conjugates: false,
  },
};
