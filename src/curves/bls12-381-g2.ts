import type { Fp2 } from '../api/values.js';
import { bls12381 } from './bls12-381.js';
import type { KnownCurve } from './curve.js';

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
