/** The names of curves: all that is known of a curve before it is loaded. */

/** Every name, and whose it is. */
export const owners = {
  bn254: 'bn254',
  BN254: 'bn254',
  bn128: 'bn254',
  alt_bn128: 'bn254',
  'bls12-381': 'bls12-381',
  bls12381: 'bls12-381',
  'bls12-377': 'bls12-377',
  bls12377: 'bls12-377',
  grumpkin: 'grumpkin',
  pallas: 'pallas',
  vesta: 'vesta',
  secp256k1: 'secp256k1',
  p256: 'p256',
  secp256r1: 'p256',
} as const;

/** Curves that `createMsmEngine` knows by name, by each of the names that they go by: of those with two groups, G1. */
export type NamedCurve = keyof typeof owners;

/** What a curve calls itself. */
export type OwnName = (typeof owners)[NamedCurve];
