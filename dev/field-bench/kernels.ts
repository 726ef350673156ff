/** Kernels of field-bench: the library's field operations, and the peaks of a device. */
import {
  digitsOf,
  type FieldProduct,
  FLOAT_LIMB_BITS,
  fieldProducts,
  invert,
  joinLimbs,
  lazyLimbs,
  type Modulus,
  mod,
  modulus,
  UNSIGNED_LIMB_BITS,
} from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import { fieldView } from '../../src/field/wgsl.js';
import { type Kernel, kernel, struct } from '../../src/shaders/kernel.js';
import { renderShader, type Template } from '../../src/shaders/template.js';
import type { Random } from '../oracle/known-bases.js';
import template from './chain.wgsl?template';
import { type FieldOperation, productOf, type Representation } from './operation.js';
import { plainProduct } from './plain-product.js';

export const ChainConfig = struct('ChainConfig', { steps: 'length of each chain' });

export const CHAIN_THREADS = 64;

/** Default number of threads of a dispatch, which fills a device. */
export const threadsFor = (software: boolean): number => (software ? 256 : 65_536);

/**
 * Returns the multiply-adds of a product; a dot product of four is one. Bytes have no special
 * square.
 */
const productTerms = (m: Modulus, product: FieldProduct, square = false): number => {
  const words = lazyLimbs(m, 32);
  if (product === 'dot4') return 2 * words * (4 * words + 3);
  if (product === 'fma') return 4 * lazyLimbs(m, FLOAT_LIMB_BITS) ** 2;
  const limbs = lazyLimbs(m, UNSIGNED_LIMB_BITS);
  return (square ? (limbs * (limbs + 1)) / 2 : limbs ** 2) + limbs ** 2;
};

/** Declares how many matrices an inversion stores. */
const matrices: Template = ['const MATRICES = ', ['batches'], 'u;\n'];

/** Returns the name of the library's own arithmetic with one kind of product. */
export const libraryVariant = (product: FieldProduct): string => `words, ${product}`;

/** Returns the representation of the library's field layer, with further WGSL. */
const libraryRepresentation =
  (product: FieldProduct, ...more: Template) =>
  (of: Modulus): Representation => {
    const m = modulus(of.p, product);
    const declarations = renderShader([['field', '>'], ...more], fieldView(m));
    const r = 1n << BigInt(m.montgomeryBits);
    const limbs = lazyLimbs(m, 32);
    return {
      declarations,
      type: 'Tight',
      member: 'w',
      limbs,
      r,
      encode: (value) => digitsOf(value, 32, limbs),
      decode: (words) => joinLimbs([...words], 32),
    };
  };

/**
 * Returns the operations of the library's field layer with one kind of product; the product is
 * first.
 */
const library = (product: FieldProduct): FieldOperation[] => {
  const common = {
    variant: libraryVariant(product),
    representation: libraryRepresentation(product),
    multiplyAdds: () => null,
    ...(product === 'dot4' && { feature: 'packed_4x8_integer_dot_product', alone: true }),
  };
  return [
    {
      ...common,
      name: 'product',
      wgsl: (x) => `${x} = field_mul(field_loose(${x}), y);`,
      multiplyAdds: (m) => productTerms(m, product),
      apply: productOf,
    },
    {
      ...common,
      name: 'square',
      wgsl: (x) => `${x} = field_square(${x});`,
      multiplyAdds: (m) => productTerms(m, product, true),
      apply: (m, r, x) => productOf(m, r, x, x),
    },
    {
      ...common,
      name: 'inverse',
      alone: true,
      representation: libraryRepresentation(product, ['inverse', '>'], ...matrices),
      // subtracts y, because the inverse of the inverse would be the first operand again
      wgsl: (x) => `${x} = field_tighten(field_minus(field_inverse(${x}), y));`,
      apply: (m, r, x, y) => mod(invert(mod(x * invert(r, m.p), m.p), m.p) * r - y, m.p),
    },
  ];
};

/** The unit of product equivalents, then the operations that the library computes with. */
export const fieldOperations: readonly FieldOperation[] = [plainProduct, ...fieldProducts.flatMap(library)];

export const libraryProduct = (product: FieldProduct): FieldOperation => library(product)[0] as FieldOperation;

const dot4 = (a: bigint, b: bigint): bigint =>
  [0n, 8n, 16n, 24n].reduce((sum, shift) => sum + ((a >> shift) & 0xffn) * ((b >> shift) & 0xffn), 0n);

/** Returns an unrolled operation on words that devices are fast at. */
const peak = (
  own: Pick<FieldOperation, 'name' | 'wgsl' | 'apply' | 'feature' | 'draw'>,
  declarations = '',
): FieldOperation => ({
  variant: '',
  perStep: 64,
  multiplyAdds: () => null,
  draw: (random) => random.u32() | 1,
  representation: () => ({
    ...{ declarations, type: 'u32', limbs: 1, r: 1n },
    encode: (word) => [Number(word)],
    decode: ([word = 0]) => BigInt(word),
  }),
  ...own,
});

export const peakOperations: readonly FieldOperation[] = [
  peak({
    name: 'u32 multiply-add',
    wgsl: (x) => `${x} = ${x} * y + 12345u;`,
    apply: (_, __, x, y) => BigInt.asUintN(32, x * y + 12345n),
  }),
  peak({
    name: 'f32 fma',
    // floats between 0.5 and 1; fma maps them to such floats
    draw: (random: Random) => 0x3f000000 + random.below(2 ** 23),
    wgsl: (x) => `${x} = bitcast<u32>(fma(bitcast<f32>(${x}), 0.999, 0.001));`,
    apply: null,
  }),
  peak(
    {
      name: 'dot4U8Packed',
      wgsl: (x) => `${x} = ${x} + dot4(${x}, y);`,
      apply: (_, __, x, y) => BigInt.asUintN(32, x + dot4(x, y)),
      feature: 'packed_4x8_integer_dot_product',
    },
    // as in wgsl/field/field.wgsl
    'fn dot4(a: u32, b: u32) -> u32 { return dot4U8Packed(a, b); }',
  ),
];

export const fieldChain = (
  m: Modulus,
  { representation, perStep = 1, wgsl }: FieldOperation,
  chains: number,
): Kernel => {
  const { declarations, type, limbs, member = 'l' } = representation(m);
  return kernel(
    'chain',
    template,
    [
      { name: 'config', access: 'uniform', type: 'ChainConfig' },
      { name: 'values', access: 'write', type: 'array<u32>' },
    ],
    {
      ...{ declarations, type, chains, threads: CHAIN_THREADS, structs: ChainConfig.wgsl },
      limbCount: limbs,
      limbs: range(limbs).map((i) => ({ i, member: type === 'u32' ? '' : `.${member}${i}` })),
      each: range(chains).map((chain) => ({ chain, at: chain * limbs })),
      statements: range(perStep * chains).map((i) => ({ statement: wgsl(`x${i % chains}`) })),
    },
  );
};
