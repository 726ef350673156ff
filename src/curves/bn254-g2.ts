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
