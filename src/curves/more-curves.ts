/** Curves besides BN254, which index.js loads when one of them is asked for. */
import { bls12377 } from './bls12-377.js';
import { bls12381 } from './bls12-381.js';
import type { Curve } from './curve.js';
import { grumpkin } from './grumpkin.js';
import { type OwnName, owners } from './names.js';
import { p256 } from './p256.js';
import { pallas, vesta } from './pasta.js';
import { secp256k1 } from './secp256k1.js';

export const more: Readonly<Record<Exclude<OwnName, 'bn254'>, Curve>> = {
  'bls12-381': bls12381,
  'bls12-377': bls12377,
  grumpkin,
  pallas,
  vesta,
  secp256k1,
  p256,
};

/** Null: there is none. */
export const curveNamed = (name: string): Curve | null => {
  const own = Object.hasOwn(owners, name) ? owners[name as keyof typeof owners] : 'bn254';
  return own === 'bn254' ? null : more[own];
};

/** `bn254 (also BN254, bn128, alt_bn128)`, and so for every curve. */
export const listNames = (): string =>
  [...new Set(Object.values(owners))]
    .map((own) => {
      const aliases = Object.entries(owners).flatMap(([name, owner]) => (owner === own && name !== own ? name : []));
      return aliases.length === 0 ? own : `${own} (also ${aliases.join(', ')})`;
    })
    .join(', ');
