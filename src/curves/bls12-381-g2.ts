import type { Fp2 } from '../api.js';
import { bls12381 } from './bls12-381.js';
import type { Curve } from './curve.js';

/**
 * BLS12-381 G2, y² = x³ + 4·(1 + u) over F_p[u] / (u² + 1). The cofactor is about 2^507: points of the curve that are not in the group exist, and are
 * taken as they are.
 *
 * Source: draft-irtf-cfrg-pairing-friendly-curves-11, section 4.2.1.
 */
export const bls12381G2: Curve<Fp2> = {
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
  encodings: ['eip2537', 'zcash'],
};
