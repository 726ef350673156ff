import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';

/** Fields of all lengths. Where noble has the prime, it is noble's, so that a typing mistake of ours cannot hide. */
export const primes: Readonly<Record<string, bigint>> = {
  'BN254 base, 254 bits': bn254.fields.Fp.ORDER,
  '2^255 - 19': ed25519.Point.Fp.ORDER,
  'P-256, 256 bits': p256.Point.Fp.ORDER,
  // S. Bowe et al., "Zexe" (eprint 2018/962)
  'BLS12-377 base, 377 bits':
    0x01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001n,
  'BLS12-381 base, 381 bits': bls12_381.fields.Fp.ORDER,
  // the shortest and the longest kind
  '2^61 - 1': 2n ** 61n - 1n,
  '2^414 - 17': 2n ** 414n - 17n,
};
