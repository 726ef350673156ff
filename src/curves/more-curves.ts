/** Groups besides BN254's G1, which index.js loads when one of them is asked for. */
import type { Fp2 } from '../api/values.js';
import { bls12377 } from './bls12-377.js';
import { bls12377G2 } from './bls12-377-g2.js';
import { bls12381 } from './bls12-381.js';
import { bls12381G2 } from './bls12-381-g2.js';
import { bn254G2 } from './bn254-g2.js';
import type { AnyCurve, Curve, EdwardsCurve } from './curve.js';
import { babyJubjub, bandersnatch, ed25519, jubjub } from './edwards-curves.js';
import { grumpkin } from './grumpkin.js';
import { type Group, type OwnName, type OwnNameOfEdwards, type OwnNameOfPair, owners } from './names.js';
import { p256 } from './p256.js';
import { pallas, vesta } from './pasta.js';
import { secp256k1 } from './secp256k1.js';

/** By the names that the curves call themselves. */
export const groups: Readonly<{
  g1: Readonly<Record<Exclude<OwnName, 'bn254'>, Curve>>;
  g2: Readonly<Record<OwnNameOfPair, Curve<Fp2>>>;
}> = {
  g1: {
    'bls12-381': bls12381,
    'bls12-377': bls12377,
    grumpkin,
    pallas,
    vesta,
    secp256k1,
    p256,
  },
  g2: { bn254: bn254G2, 'bls12-381': bls12381G2, 'bls12-377': bls12377G2 },
};

/** Those of twisted Edwards form, likewise. */
export const edwardsCurves: Readonly<Record<OwnNameOfEdwards, EdwardsCurve>> = {
  'baby-jubjub': babyJubjub,
  jubjub,
  bandersnatch,
  ed25519,
};

const named: Readonly<Record<Group, Readonly<Partial<Record<string, AnyCurve | EdwardsCurve>>>>> = {
  ...groups,
  g1: { ...groups.g1, ...edwardsCurves },
};

/** Null: there is none. */
export const curveNamed = (name: string, group: Group): AnyCurve | EdwardsCurve | null => {
  if (!Object.hasOwn(owners, name)) return null;
  const own = owners[name as keyof typeof owners];
  return named[group][own] ?? null;
};

/** `bn254 (also BN254, bn128, alt_bn128)`, and so for every curve that has the group. */
export const listNames = (group: Group): string =>
  // those of BN254's G1 are in index.js
  [...new Set(['bn254', ...Object.keys(named[group])])]
    .map((own) => {
      const aliases = Object.entries(owners).flatMap(([name, owner]) => (owner === own && name !== own ? name : []));
      return aliases.length === 0 ? own : `${own} (also ${aliases.join(', ')})`;
    })
    .join(', ');
