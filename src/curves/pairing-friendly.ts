/** Pairing-friendly curves: G1 and G2 of the BLS12 curves, and G2 of BN254 (bn254.ts has its G1). */
import type { Fp2 } from '../api/values.js';
import type { KnownCurve } from './curve.js';

/**
 * BN254 G2, y² = x³ + 3 / (9 + u) over F_p[u] / (u² + 1). The cofactor is about p. Points of the
 * curve outside of the group are accepted unless `checkSubgroup` is set.
 *
 * Source: EIP-197, https://eips.ethereum.org/EIPS/eip-197, "Definition of the groups" (P2 is the
 * generator).
 */
export const bn254G2: KnownCurve<Fp2> = {
  name: 'bn254 G2',
  p: 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n,
  order: 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n,
  nonResidue: -1n,
  a: { c0: 0n, c1: 0n },
  b: {
    c0: 0x2b149d40ceb8aaae81be18991be06ac3b5b4c5e559dbefa33267e6dc24a138e5n,
    c1: 0x009713b03af0fed4cd2cafadeed8fdf4a74fa084e52d1852e4a2bd0685c315d2n,
  },
  generator: {
    x: {
      c0: 0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6edn,
      c1: 0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2n,
    },
    y: {
      c0: 0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daan,
      c1: 0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975bn,
    },
  },
  encodings: ['eip196', 'ark', 'ark-compressed', 'gnark', 'gnark-compressed', 'aztec'],
  // ψ, the Frobenius endomorphism on the twist, is multiplication by 6·u² = t − 1 in the group, and
  // nowhere else: ψ² − t·ψ + p = 0, so ψ(P) = (t − 1)·P implies (p + 1 − t)·P = r·P = 0 (El Housni,
  // Guillevic, Piellard, https://eprint.iacr.org/2022/352)
  membership: {
    multiple: 6n * 4965661367192848881n ** 2n,
    x: {
      c0: 0x2fb347984f7911f74c0bec3cf559b143b78cc310c2c3330c99e39557176f553dn,
      c1: 0x16c9e55061ebae204ba4cc8bd75a079432ae2a1d0b7c9dce1665d51c640fcba2n,
    },
    y: {
      c0: 0x063cf305489af5dcdc5ec698b6e2f9b9dbaae0eda9c95998dc54014671a0135an,
      c1: 0x07c03cbcac41049a0704b5a7ec796f2b21807dc98fa25bd282d37f632623b0e3n,
    },
    conjugates: true,
  },
};

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

/**
 * BLS12-381 G2, y² = x³ + 4·(1 + u) over F_p[u] / (u² + 1). The cofactor is about 2^507. Points of
 * the curve outside of the group are accepted unless `checkSubgroup` is set.
 *
 * Source: draft-irtf-cfrg-pairing-friendly-curves-11, section 4.2.1.
 */
export const bls12381G2: KnownCurve<Fp2> = {
  name: 'bls12-381 G2',
  p: bls12381.p,
  order: bls12381.order,
  nonResidue: -1n,
  a: { c0: 0n, c1: 0n },
  b: { c0: 4n, c1: 4n },
  generator: {
    x: {
      c0: 0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8n,
      c1: 0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7en,
    },
    y: {
      c0: 0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801n,
      c1: 0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79ben,
    },
  },
  encodings: ['eip2537', 'zcash', 'zcash-compressed', 'ark', 'ark-compressed', 'gnark', 'gnark-compressed'],
  // ψ, the Frobenius endomorphism on the twist, is multiplication by the seed s in the group, and
  // nowhere else: ψ² − t·ψ + p = 0 with t = s + 1, so ψ(P) = s·P implies that the order of P
  // divides those of both curves, over F_p and over F_p², whose only common factor is r (Scott,
  // https://eprint.iacr.org/2021/1130)
  membership: {
    multiple: -0xd201000000010000n,
    x: {
      c0: 0n,
      c1: 0x1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000aaadn,
    },
    y: {
      c0: 0x135203e60180a68ee2e9c448d77a2cd91c3dedd930b1cf60ef396489f61eb45e304466cf3e67fa0af1ee7b04121bdea2n,
      c1: 0x06af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e77f76e17009241c5ee67992f72ec05f4c81084fbede3cc09n,
    },
    conjugates: true,
  },
};

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

/**
 * BLS12-377 G2, y² = x³ + 1 / u over F_p[u] / (u² + 5). The cofactor is about 2^501. Points of the
 * curve outside of the group are accepted unless `checkSubgroup` is set.
 *
 * Source: that of G1 above; the twist and the generator are those of arkworks and gnark.
 */
export const bls12377G2: KnownCurve<Fp2> = {
  name: 'bls12-377 G2',
  p: bls12377.p,
  order: bls12377.order,
  nonResidue: -5n,
  a: { c0: 0n, c1: 0n },
  b: {
    c0: 0n,
    c1: 0x010222f6db0fd6f343bd03737460c589dc7b4f91cd5fd889129207b63c6bf8000dd39e5c1ccccccd1c9ed9999999999an,
  },
  generator: {
    x: {
      c0: 0x018480be71c785fec89630a2a3841d01c565f071203e50317ea501f557db6b9b71889f52bb53540274e3e48f7c005196n,
      c1: 0x00ea6040e700403170dc5a51b1b140d5532777ee6651cecbe7223ece0799c9de5cf89984bff76fe6b26bfefa6ea16afen,
    },
    y: {
      c0: 0x00690d665d446f7bd960736bcbb2efb4de03ed7274b49a58e458c282f832d204f2cf88886d8c7c2ef094094409fd4ddfn,
      c1: 0x00f8169fd28355189e549da3151a70aa61ef11ac3d591bf12463b01acee304c24279b83f5e52270bd9a1cdd185eb8f93n,
    },
  },
  encodings: ['ark', 'ark-compressed', 'gnark', 'gnark-compressed'],
  // ψ, the Frobenius endomorphism on the twist, is multiplication by the seed s in the group, and
  // nowhere else: ψ² − t·ψ + p = 0 with t = s + 1, so ψ(P) = s·P implies that the order of P
  // divides those of both curves, over F_p and over F_p², whose only common factor is r (Scott,
  // https://eprint.iacr.org/2021/1130)
  membership: {
    multiple: 0x8508c00000000001n,
    x: {
      c0: 0x9b3af05dd14f6ec619aaf7d34594aabc5ed1347970dec00452217cc900000008508c00000000002n,
      c1: 0n,
    },
    y: {
      c0: 0x1680a40796537cac0c534db1a79beb1400398f50ad1dec1bce649cf436b0f6299588459bff27d8e6e76d5ecf1391c63n,
      c1: 0n,
    },
    conjugates: true,
  },
};
