/**
 * Operations of the field of p² elements, the coordinates of G2, with u² = −1 as for BN254 and
 * BLS12-381.
 */

import type { FieldProduct } from '../../src/field/modulus.js';
import {
  balancedDigits,
  digitsOf,
  joinLimbs,
  LIMB_BITS,
  lazyLimbs,
  type Modulus,
  mod,
  modulus,
} from '../../src/field/modulus.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { range } from '../../src/field/straight-line.js';
import { renderShader } from '../../src/shaders/partials.js';
import type { Random } from '../oracle/known-bases.js';
import { type FieldOperation, productOf, type Representation } from './operation.js';

const NON_RESIDUE = -1n;

/** A pair as one number, as chains carry numbers: c0 + c1·2^SHIFT, both non-negative. */
const SHIFT = 512n;
const joined = (c0: bigint, c1: bigint, p: bigint): bigint => mod(c0, p) + (mod(c1, p) << SHIFT);
const parts = (pair: bigint): readonly [bigint, bigint] => [pair & (2n ** SHIFT - 1n), pair >> SHIFT];

const representation =
  (product: FieldProduct) =>
  (of: Modulus): Representation => {
    const m = modulus(of.p, product, 2);
    const field = quadraticField(m, NON_RESIDUE);
    const inLimbs = product === 'signed';
    const each = inLimbs ? m.limbs : lazyLimbs(m, 32);
    const member = inLimbs ? 'l' : 'w';
    const number = (name: string, first: number): string =>
      `PrimeTight(${range(each).map((i) => `${name}.l${first + i}`)})`;
    const limbs = (name: string): string =>
      ['c0', 'c1'].flatMap((c) => range(each).map((i) => `${name}.${c}.${member}${i}`)).join(', ');
    return {
      // chains load and store structs with consecutive limbs
      declarations: `${renderShader([['field', '>']], field.view(), field.partials)}
struct Pair { ${range(2 * each).map((i) => `l${i}: u32`)} }
fn tight(a: Pair) -> Tight { return Tight(${number('a', 0)}, ${number('a', each)}); }
fn pair(a: Tight) -> Pair { return Pair(${limbs('a')}); }`,
      ...{ type: 'Pair', element: 'u32', limbs: 2 * each, r: 1n << BigInt(m.montgomeryBits) },
      encode: (value) =>
        parts(value).flatMap((c) => [...(inLimbs ? balancedDigits(c, LIMB_BITS, each) : digitsOf(c, 32, each))]),
      decode: (words) => {
        const halves = [words.slice(0, each), words.slice(each)];
        const [c0, c1] = halves.map((half) =>
          inLimbs ? joinLimbs([...Int32Array.from(half)], LIMB_BITS) : joinLimbs([...half], 32),
        ) as [bigint, bigint];
        return joined(c0, c1, m.p);
      },
    };
  };

const productOfPairs = (m: Modulus, r: bigint, x: bigint, y: bigint): bigint => {
  const [[a0, a1], [b0, b1]] = [parts(x), parts(y)];
  const of = (a: bigint, b: bigint): bigint => productOf(m, r, a, b);
  return joined(of(a0, b0) + NON_RESIDUE * of(a1, b1), of(a0, b1) + of(a1, b0), m.p);
};

/** Returns products and squares of pairs, with one kind of product. */
export const pairOperations = (product: FieldProduct, variant: string): FieldOperation[] => {
  const common = {
    variant,
    representation: representation(product),
    multiplyAdds: () => null,
    element: {
      draw: ({ p }: Modulus, random: Random) => joined(random.belowBig(p), random.belowBig(p), p),
      isReduced: true as const,
    },
    alone: true as const,
    ...(product === 'dot4' && { feature: 'packed_4x8_integer_dot_product' }),
  };
  return [
    {
      ...common,
      name: 'product of pairs',
      wgsl: (x) => `${x} = pair(field_mul(field_loose(tight(${x})), tight(y)));`,
      apply: productOfPairs,
    },
    {
      ...common,
      name: 'square of pairs',
      wgsl: (x) => `${x} = pair(field_square(tight(${x})));`,
      apply: (m, r, x) => productOfPairs(m, r, x, x),
    },
  ];
};
