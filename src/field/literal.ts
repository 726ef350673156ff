import { digitsOf, LIMB_BITS, type Modulus, toMontgomery } from './modulus.js';

/** The arguments of a WGSL `Field(…)` that is `value` in Montgomery form. */
export const fieldLiteral = (m: Modulus, value: bigint): string =>
  digitsOf(toMontgomery(m, value), LIMB_BITS, m.limbs)
    .map((limb) => `${limb}u`)
    .join(', ');
