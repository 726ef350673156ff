import { badArgument, notLoaded, show } from '../errors.js';
import { bn254 } from './bn254.js';
import type { AnyCurve, EdwardsCurve } from './curve.js';
import type { Group, NameOf } from './names.js';

/**
 * The names of BN254, whose G1 needs no further module. The compiler compares them with the
 * registry.
 */
const namesOfBn254: Readonly<Record<NameOf<'bn254'>, true>> = {
  bn254: true,
  BN254: true,
  bn128: true,
  alt_bn128: true,
};

/**
 * Returns the constants of a group of a named curve. Loads the module of the other curves unless it
 * is BN254's G1.
 *
 * @throws MsmError `bad-argument` if no curve has that name, or the curve lacks that group
 */
export const resolveCurve = async (curve: string, group: Group): Promise<AnyCurve | EdwardsCurve> => {
  if (Object.hasOwn(namesOfBn254, curve) && group === 'g1') return bn254;
  const { curveNamed, listNames } = await import('./more-curves.js').catch(notLoaded('more-curves'));
  const found = curveNamed(curve, group);
  if (found === null) {
    const those = group === 'g1' ? 'or a Curve object' : "for group 'g2', or a Curve object with a nonResidue";
    throw badArgument(`curve: ${show(curve)} is unknown; give one of ${listNames(group)} ${those}`);
  }
  return found;
};
