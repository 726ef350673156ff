import { wordWgsl } from './carry.js';
import { balancedDigits, LIMB_BITS, type Modulus, toMontgomery } from './modulus.js';

/** The arguments of a WGSL `Tight(…)` that is `value` in Montgomery form. */
export const fieldLiteral = (m: Modulus, value: bigint): string =>
  balancedDigits(toMontgomery(m, value), LIMB_BITS, m.limbs).map(wordWgsl).join(', ');
