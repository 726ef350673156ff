import { badArgument, show } from '../errors.js';
import { bn254 } from './bn254.js';
import type { Curve } from './curve.js';

/** Curves that `createMsmEngine` knows by name: BN254 G1, by each of the names that it goes by. */
export type NamedCurve = 'bn254' | 'BN254' | 'bn128' | 'alt_bn128';

const named: Readonly<Record<NamedCurve, Curve>> = { bn254, BN254: bn254, bn128: bn254, alt_bn128: bn254 };

/** `bn254 (also BN254, bn128, alt_bn128)`, and so for every curve. */
const listNames = (): string =>
  [...new Set(Object.values(named))]
    .map((curve) => {
      const aliases = Object.keys(named).filter((name) => named[name as NamedCurve] === curve && name !== curve.name);
      return aliases.length === 0 ? curve.name : `${curve.name} (also ${aliases.join(', ')})`;
    })
    .join(', ');

/** @throws MsmError `bad-argument` for a name that no file of src/curves/ has */
export const resolveCurve = (curve: string | Curve): Curve => {
  if (typeof curve === 'object' && curve !== null) return curve;
  if (!Object.hasOwn(named, curve)) {
    throw badArgument(`curve: ${show(curve)} is unknown; give one of ${listNames()} or a Curve object`);
  }
  return named[curve as NamedCurve];
};
