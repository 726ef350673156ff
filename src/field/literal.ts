import { balancedDigits, digitsOf, LIMB_BITS, lazyLimbs, type Modulus, toMontgomery } from './modulus.js';
import { literals } from './statements.js';

/** Returns the arguments of a WGSL `Tight(…)`: `value` in Montgomery form. */
export const fieldLiteral = (m: Modulus, value: bigint): string => {
  const stored = toMontgomery(m, value);
  return literals(
    m.product === 'signed' ? balancedDigits(stored, LIMB_BITS, m.limbs) : digitsOf(stored, 32, lazyLimbs(m, 32)),
  );
};
