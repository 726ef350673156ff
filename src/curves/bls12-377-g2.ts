import type { Fp2 } from '../api/values.js';
import { bls12377 } from './bls12-377.js';
import type { KnownCurve } from './curve.js';

/**
 * BLS12-377 G2, y² = x³ + 1 / u over F_p[u] / (u² + 5). The cofactor is about 2^501. Points of the
 * curve outside of the group are accepted unless `checkSubgroup` is set.
 *
 * Source: that of G1 (bls12-377.ts); the twist and the generator are those of arkworks and gnark.
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
