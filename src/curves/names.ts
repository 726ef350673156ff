/** The names of curves: all that is known of a curve before it is loaded. */

/** What a curve calls itself. */
export type OwnName = 'bn254' | 'bls12-381' | 'bls12-377' | 'grumpkin' | 'pallas' | 'vesta' | 'secp256k1' | 'p256';

/** Which of the groups of a pairing-friendly curve: that over F_p, or that over a field of p² elements. Other curves have the first. */
export type Group = 'g1' | 'g2';

/** Of the curves by name, those that have both groups. */
export type OwnNameOfPair = 'bn254' | 'bls12-381' | 'bls12-377';

/** Curves of twisted Edwards form. */
export type OwnNameOfEdwards = 'baby-jubjub' | 'jubjub' | 'bandersnatch' | 'ed25519';

/** Curves that `createMsmEngine` knows by name, by each of the names that they go by. */
export type NamedCurve =
  | 'bn254'
  | 'BN254'
  | 'bn128'
  | 'alt_bn128'
  | 'bls12-381'
  | 'bls12381'
  | 'bls12-377'
  | 'bls12377'
  | 'grumpkin'
  | 'pallas'
  | 'vesta'
  | 'secp256k1'
  | 'p256'
  | 'secp256r1'
  | 'baby-jubjub'
  | 'babyjubjub'
  | 'jubjub'
  | 'bandersnatch'
  | 'ed25519';

/** Every name, and whose it is. */
export const owners: Readonly<Record<NamedCurve, OwnName | OwnNameOfEdwards>> = {
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
  'baby-jubjub': 'baby-jubjub',
  babyjubjub: 'baby-jubjub',
  jubjub: 'jubjub',
  bandersnatch: 'bandersnatch',
  ed25519: 'ed25519',
};
