import type { KnownCurve } from './curve.js';

/**
 * BLS12-377 G1, y² = x³ + 1. The cofactor is about 2^125. Points of the curve outside of the group
 * are accepted unless `checkSubgroup` is set.
 *
 * Source: Bowe, Chiesa, Green, Miers, Mishra, Wu, "Zexe", https://eprint.iacr.org/2018/962, figure
 * 16; p(x) and r(x) of the BLS12 family for x = 0x8508c00000000001. The generator is that of
 * arkworks and gnark.
 */
export const bls12377: KnownCurve = {
  name: 'bls12-377',
  p: 0x01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001n,
  order: 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n,
  a: 0n,
  b: 1n,
  generator: {
    x: 0x008848defe740a67c8fc6225bf87ff5485951e2caa9d41bb188282c8bd37cb5cd5481512ffcd394eeab9b16eb21be9efn,
    y: 0x01914a69c5102eff1f674f5d30afeec4bd7fb348ca3e52d96d182ad44fb82305c2fe3d3634a9591afd82de55559c8ea6n,
  },
  encodings: ['ark', 'ark-compressed', 'gnark', 'gnark-compressed'],
  // arkworks and gnark-crypto; the least one is 11
  scalarGenerator: 22n,
  // φ: (x, y) to (β·x, y) with β³ = 1 is multiplication by −s² in the group, with the seed s: φ² +
  // φ + 1 = 0, and s⁴ − s² + 1 = r (Scott, https://eprint.iacr.org/2021/1130)
  membership: {
    multiple: -(0x8508c00000000001n ** 2n),
    x: 0x1ae3a4617c510eabc8756ba8f8c524eb8882a75cc9bc8e359064ee822fb5bffd1e945779fffffffffffffffffffffffn,
    y: 1n,
    conjugates: false,
  },
};
