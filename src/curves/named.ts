import { badArgument, MsmError, show } from '../errors.js';
import { bn254 } from './bn254.js';
import type { Curve } from './curve.js';
import { type NamedCurve, owners } from './names.js';

/** `bn254 (also BN254, bn128, alt_bn128)`, and so for every curve. */
const listNames = (): string =>
  [...new Set(Object.values(owners))]
    .map((own) => {
      const aliases = Object.entries(owners).flatMap(([name, owner]) => (owner === own && name !== own ? name : []));
      return aliases.length === 0 ? own : `${own} (also ${aliases.join(', ')})`;
    })
    .join(', ');

/** All but the first wait in a module of their own: hardly anybody needs more than one of them. */
const load = (): Promise<typeof import('./more-curves.js')> =>
  import('./more-curves.js').catch((cause: unknown) => {
    throw new MsmError(
      'internal',
      'more-curves.js of the package, which belongs beside index.js, could not be loaded',
      { cause },
    );
  });

/** @throws MsmError `bad-argument` for a name that no file of src/curves/ has */
export const resolveCurve = async (curve: string | Curve): Promise<Curve> => {
  if (typeof curve === 'object' && curve !== null) return curve;
  if (!Object.hasOwn(owners, curve)) {
    throw badArgument(`curve: ${show(curve)} is unknown; give one of ${listNames()} or a Curve object`);
  }
  const own = owners[curve as NamedCurve];
  return own === 'bn254' ? bn254 : (await load()).more[own];
};
