/** Limbs of the variants: unsigned, with a fixed width, below 2^width except the last. */
import { digitsOf, joinLimbs, lazyLimbs, type Modulus } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import type { Representation } from '../operation.js';

export const limbsStruct = (limbs: number, element: string): string =>
  `struct Limbs {\n${range(limbs)
    .map((i) => `  l${i}: ${element},`)
    .join('\n')}\n}\n`;

/**
 * Returns a representation with canonical limbs of `width` bits, Montgomery's R for them, and a
 * product.
 *
 * @param body statements of the product of a and b
 * @param functions WGSL of the functions that it calls
 */
export const unsignedLimbs = (
  m: Modulus,
  width: number,
  body: readonly string[],
  functions = '',
  element: Representation['element'] = 'u32',
): Representation => {
  const limbs = lazyLimbs(m, width);
  const product = `fn product(a: Limbs, b: Limbs) -> Limbs {\n${body.join('\n')}\n}`;
  return {
    declarations: limbsStruct(limbs, element) + functions + product,
    type: 'Limbs',
    element,
    limbs,
    r: 1n << BigInt(width * limbs),
    encode: (value) => digitsOf(value, width, limbs),
    decode: (digits) => joinLimbs(digits, width),
  };
};
