/** Kernels of field-bench: a plain product, the library's field operations, and the peaks of a device. */
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
  montgomeryFactor,
  UNSIGNED_LIMB_BITS,
} from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import { fieldView } from '../../src/field/wgsl.js';
import { type Kernel, kernel, struct } from '../../src/shaders/kernel.js';
import { renderShader, type Template } from '../../src/shaders/template.js';
import type { Random } from '../oracle/known-bases.js';
import template from './chain.wgsl?template';

interface Representation {
  /**
   * WGSL of the struct `type`, with the members l0, l1, … or those of `member`, and of its
   * functions.
   */
  readonly declarations: string;
  /** Name of the struct; u32 if one word is an element. */
  readonly type: string;
  readonly member?: 'l' | 'w';
  readonly limbs: number;
  /** Montgomery divisor of a product: a·b/R. */
  readonly r: bigint;
  encode(value: bigint): readonly number[];
  /** Returns any number congruent to the value. */
  decode(limbs: readonly number[]): bigint;
}

/** One operation in one variant: its WGSL and its meaning. */
export interface FieldOperation {
  /** Name of the variant: which product. */
  readonly variant: string;
  readonly name: string;
  /** Required WGSL language feature. */
  readonly feature?: string;
  /** True if one chain keeps a thread busy, and compiling is slow; measured with one chain only. */
  readonly alone?: boolean;
  /**
   * Repetitions of a step in every chain, interleaved so that chains hide each other's latency.
   * Default 1.
   */
  readonly perStep?: number;
  /** Draws the first operand of a chain. Default: any element. */
  readonly draw?: (random: Random) => number;
  representation(m: Modulus): Representation;
  /**
   * Returns the WGSL of one step on `x`, where `y` is the first operand of the thread's first
   * chain.
   */
  wgsl(x: string): string;
  /**
   * Returns the 32-bit multiply-adds, or other multiplications, of one operation; null if that is
   * no measure.
   */
  multiplyAdds(m: Modulus): number | null;
  /**
   * Computes the operation with BigInts; null if nothing can be compared. @param r Montgomery
   * divisor of a product
   */
  readonly apply: ((m: Modulus, r: bigint, x: bigint, y: bigint) => bigint) | null;
}

const productOf = (m: Modulus, r: bigint, x: bigint, y: bigint): bigint => mod(x * y * invert(r, m.p), m.p);

/** Width of limbs with which no column of any product overflows a u32. */
const WIDTH = 13;
const MASK = 2 ** WIDTH - 1;

/**
 * Returns statements for s0 …, the columns of a·b/R below 2p, of which all but the low bits must
 * still be masked. Rows are interleaved (CIOS): row i adds a_i·b, and makes the lowest column 0, so
 * that every column moves down by one.
 */
const montgomeryRows = (m: Modulus): string[] => {
  const n = lazyLimbs(m, WIDTH);
  const p = digitsOf(m.p, WIDTH, n);
  const sumOf = (...terms: readonly (string | undefined)[]): string => terms.filter(Boolean).join(' + ');
  const lines: string[] = [];
  let columns: readonly string[] = [];
  for (const i of range(n)) {
    lines.push(`let u${i} = ${sumOf(columns[0], `a.l${i} * b.l0`)};`);
    lines.push(`let q${i} = (u${i} * ${montgomeryFactor(m.p, WIDTH)}u) & ${MASK}u;`);
    lines.push(`let v${i} = u${i} + q${i} * ${p[0]}u;`);
    const above = range(n).slice(1);
    for (const k of above) {
      const carry = k === 1 ? `(v${i} >> ${WIDTH}u)` : '';
      lines.push(`let t${i}_${k} = ${sumOf(columns[k], `a.l${i} * b.l${k}`, `q${i} * ${p[k]}u`, carry)};`);
    }
    columns = above.map((k) => `t${i}_${k}`);
  }
  for (const k of range(n)) lines.push(`let s${k} = ${sumOf(columns[k], k > 0 ? `(s${k - 1} >> ${WIDTH}u)` : '')};`);
  return lines;
};

/** Returns statements that subtract p once if possible, and return. */
const conditionalSubtraction = (m: Modulus): string[] => {
  const n = lazyLimbs(m, WIDTH);
  const p = digitsOf(m.p, WIDTH, n);
  const differences = range(n).map(
    (i) => `let d${i} = (s${i} & ${MASK}u) - ${p[i]}u${i > 0 ? ` - (d${i - 1} >> 31u)` : ''};`,
  );
  const limbs = range(n).map((i) => `(s${i} & ${MASK}u & keep) | (d${i} & ${MASK}u & ~keep)`);
  return [...differences, `let keep = 0u - (d${n - 1} >> 31u);`, `return Limbs(${limbs.join(',\n')});`];
};

export const plainProduct: FieldOperation = {
  ...{ variant: '13-bit, plain', name: 'product' },
  representation: (m) => {
    const limbs = lazyLimbs(m, WIDTH);
    const struct = `struct Limbs {\n${range(limbs)
      .map((i) => `  l${i}: u32,\n`)
      .join('')}}\n`;
    const body = [...montgomeryRows(m), ...conditionalSubtraction(m)].join('\n');
    return {
      declarations: `${struct}fn product(a: Limbs, b: Limbs) -> Limbs {\n${body}\n}`,
      ...{ type: 'Limbs', limbs, r: 1n << BigInt(WIDTH * limbs) },
      encode: (value) => digitsOf(value, WIDTH, limbs),
      decode: (digits) => joinLimbs(digits, WIDTH),
    };
  },
  wgsl: (x) => `${x} = product(${x}, y);`,
  multiplyAdds: (m) => 2 * lazyLimbs(m, WIDTH) ** 2,
  apply: productOf,
};

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
