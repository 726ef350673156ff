import { balancedDigits, LIMB_BITS, type Modulus, toMontgomery } from './modulus.js';
import { literals } from './statements.js';

/** The arguments of a WGSL `Tight(…)` that is `value` in Montgomery form. */
export const fieldLiteral = (m: Modulus, value: bigint): string =>
  literals(balancedDigits(toMontgomery(m, value), LIMB_BITS, m.limbs));
