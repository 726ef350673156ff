import { badArgument, notLoaded, show } from '../errors.js';
import { bn254 } from './bn254.js';
import type { AnyCurve, EdwardsCurve } from './curve.js';
import type { Group } from './names.js';

/** BN254's names: all others wait in a module of their own, with the list of all. Hardly anybody needs more than one curve. */
const names = ['bn254', 'BN254', 'bn128', 'alt_bn128'];

/** @throws MsmError `bad-argument` for a name that no file of src/curves/ has, or no group of that curve */
export const resolveCurve = async (curve: string, group: Group): Promise<AnyCurve | EdwardsCurve> => {
  if (names.includes(curve) && group === 'g1') return bn254;
  const { curveNamed, listNames } = await import('./more-curves.js').catch(notLoaded('more-curves'));
  const found = curveNamed(curve, group);
  if (found === null) {
    const those = group === 'g1' ? 'or a Curve object' : "for group 'g2', or a Curve object with a nonResidue";
    throw badArgument(`curve: ${show(curve)} is unknown; give one of ${listNames(group)} ${those}`);
  }
  return found;
};
