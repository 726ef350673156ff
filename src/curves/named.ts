import { badArgument, notLoaded, show } from '../errors.js';
import { bn254 } from './bn254.js';
import type { Curve } from './curve.js';

/** BN254's names: all others wait in a module of their own, with the list of all. Hardly anybody needs more than one curve. */
const names = ['bn254', 'BN254', 'bn128', 'alt_bn128'];

/** @throws MsmError `bad-argument` for a name that no file of src/curves/ has */
export const resolveCurve = async (curve: string): Promise<Curve> => {
  if (names.includes(curve)) return bn254;
  const { curveNamed, listNames } = await import('./more-curves.js').catch(notLoaded('more-curves'));
  const found = curveNamed(curve);
  if (found === null)
    throw badArgument(`curve: ${show(curve)} is unknown; give one of ${listNames()} or a Curve object`);
  return found;
};
