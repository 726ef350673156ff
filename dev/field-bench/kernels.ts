/** What field-bench runs: operations of the field in several ways, and what the device does at its best. */
import type { CarryMode } from '../../src/field/carry.js';
import { balancedDigits, digitsOf, invert, joinLimbs, LIMB_BITS, type Modulus, mod } from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import { fieldView } from '../../src/field/wgsl.js';
import { type Kernel, kernel } from '../../src/shaders/kernel.js';
import { renderShader } from '../../src/shaders/partials.js';
import { struct } from '../../src/shaders/struct.js';
import template from './chain.wgsl?raw';
import type { Probe, ProductVariant, Representation } from './representation.js';
import { productVariants } from './variants/index.js';
import { plain } from './variants/plain.js';

export const ChainConfig = struct('ChainConfig', { steps: 'length of each chain' });

export const CHAIN_THREADS = 64;

/** Threads of a dispatch unless somebody asks for others: those that fill a device. */
export const threadsFor = (software: boolean): number => (software ? 256 : 65_536);

/** One operation, done in one way: its WGSL and its meaning. */
export interface FieldOperation {
  /** How: which product, which carries. */
  readonly variant: string;
  readonly name: string;
  /** A WGSL language feature that it needs. */
  readonly feature?: string;
  /** It is measured only where this is exact. */
  readonly probe?: Probe;
  /** Long enough to keep a thread busy alone, and slow to compile: measured in one chain only. */
  readonly alone?: boolean;
  representation(m: Modulus): Representation;
  /** WGSL of one step on `x`, with `y` the first operand of the thread's first chain. */
  wgsl(x: string): string;
  /** Multiply-adds of 32 bits that one takes; null where that says nothing. */
  multiplyAdds(m: Modulus): number | null;
  /** @param r what a product divides by */
  apply(m: Modulus, r: bigint, x: bigint, y: bigint, step: number): bigint;
}

const productOf = (m: Modulus, r: bigint, x: bigint, y: bigint): bigint => mod(x * y * invert(r, m.p), m.p);

const variantProduct = ({ name, representation, multiplications, ...needs }: ProductVariant): FieldOperation => ({
  variant: name,
  name: 'product',
  ...needs,
  representation,
  wgsl: (x) => `${x} = product(${x}, y);`,
  multiplyAdds: multiplications,
  apply: productOf,
});

/** The unit of product equivalents. */
export const baseline: FieldOperation = variantProduct(plain);

// Packing alone would be undone by unpacking, and a compiler may know it.
const WITH_BIT = `
fn with_bit(a: Packed, bit: u32) -> Packed {
  var b = a;
  b.v0.x ^= bit & 1u;
  return b;
}`;

/** What the library's own arithmetic is called. */
export const libraryVariant = (carry: CarryMode): string => `${LIMB_BITS}-bit signed, ${carry}`;

/** The field layer of the library, with one kind of carries. */
const library = (carry: CarryMode): FieldOperation[] => {
  const tight = (m: Modulus, more = ''): Representation => ({
    declarations: renderShader(`{{> field}}${more}`, fieldView(m, carry)),
    type: 'Tight',
    element: 'u32',
    limbs: m.limbs,
    r: 1n << BigInt(LIMB_BITS * m.limbs),
    encode: (value) => balancedDigits(value, LIMB_BITS, m.limbs),
    decode: (limbs) =>
      joinLimbs(
        limbs.map((limb) => limb | 0),
        LIMB_BITS,
      ),
  });
  const canonical = (m: Modulus, more = ''): Representation => ({
    ...tight(m, more),
    type: 'Canonical',
    encode: (value) => digitsOf(value, LIMB_BITS, m.limbs),
  });
  const nothing = (): null => null;
  const own: Omit<FieldOperation, 'variant'>[] = [
    {
      name: 'product',
      representation: tight,
      wgsl: (x) => `${x} = field_mul(field_loose(${x}), y);`,
      multiplyAdds: ({ limbs }) => 2 * limbs * limbs,
      apply: productOf,
    },
    {
      name: 'square',
      representation: tight,
      wgsl: (x) => `${x} = field_square(${x});`,
      multiplyAdds: ({ limbs }) => (limbs * (limbs + 1)) / 2 + limbs * limbs,
      apply: (m, r, x) => productOf(m, r, x, x),
    },
    {
      name: 'inverse',
      alone: true,
      representation: (m) => tight(m, '{{> inverse}}'),
      // an inverse of an inverse leads back, so something is taken off in between
      wgsl: (x) => `${x} = field_tighten(field_minus(field_inverse(${x}), y));`,
      multiplyAdds: nothing,
      apply: (m, r, x, y) => mod(invert(mod(x * invert(r, m.p), m.p), m.p) * r - y, m.p),
    },
    {
      name: 'subtract',
      representation: canonical,
      wgsl: (x) => `${x} = field_canonical(field_tighten(canonical_minus(${x}, y)));`,
      multiplyAdds: nothing,
      apply: (m, _, x, y) => mod(x - y, m.p),
    },
    {
      name: 'pack, unpack',
      representation: (m) => canonical(m, WITH_BIT),
      wgsl: (x) => `${x} = field_unpack(with_bit(field_pack(${x}), step));`,
      multiplyAdds: nothing,
      apply: (_, __, x, ___, step) => x ^ BigInt(step & 1),
    },
  ];
  return own.map((operation) => ({ variant: libraryVariant(carry), ...operation }));
};

/** What the library computes with, and the unit, which comes first. */
export const libraryOperations: readonly FieldOperation[] = [baseline, ...library('shift'), ...library('float')];

/** The product that the library computes with. */
export const libraryProduct = (carry: CarryMode): FieldOperation => {
  const own = library(carry).find(({ name }) => name === 'product');
  if (own === undefined) throw new Error('the library has no product');
  return own;
};

/** All that field-bench knows; the unit first. */
export const fieldOperations: readonly FieldOperation[] = [
  ...libraryOperations,
  ...productVariants.map(variantProduct),
];

/** One thing that a device does fast, on words: its WGSL, unrolled, and its meaning; null where a float has none to compare. */
export interface PeakOperation {
  readonly name: string;
  /** Of one step on the word `x`. */
  readonly perStep: number;
  wgsl(x: string): string;
  apply: ((x: number, y: number) => number) | null;
  /** A WGSL language feature that it needs. */
  readonly feature?: string;
}

/** Times that a step does it to every chain, taking turns, so that what one waits for another does meanwhile. */
const UNROLLED = 64;

const dot4 = (a: number, b: number): number =>
  [0, 8, 16, 24].reduce((sum, shift) => sum + ((a >>> shift) & 0xff) * ((b >>> shift) & 0xff), 0);

export const peakOperations = [
  {
    name: 'u32 multiply-add',
    perStep: UNROLLED,
    wgsl: (x) => `${x} = ${x} * y + 12345u;`,
    apply: (x, y) => (Math.imul(x, y) + 12345) >>> 0,
  },
  {
    name: 'f32 fma',
    perStep: UNROLLED,
    wgsl: (x) => `${x} = bitcast<u32>(fma(bitcast<f32>(${x}), 0.999, 0.001));`,
    apply: null,
  },
  {
    name: 'dot4U8Packed',
    perStep: UNROLLED,
    wgsl: (x) => `${x} = ${x} + dot4U8Packed(${x}, y);`,
    apply: (x, y) => (x + dot4(x, y)) >>> 0,
    feature: 'packed_4x8_integer_dot_product',
  },
] as const satisfies readonly PeakOperation[];

const chainKernel = (
  { declarations, type, element, limbs }: Pick<Representation, 'declarations' | 'type' | 'element' | 'limbs'>,
  chains: number,
  times: number,
  wgsl: (x: string) => string,
  member: (i: number) => string,
): Kernel =>
  kernel(
    'chain',
    template,
    [
      { name: 'config', access: 'uniform', type: 'ChainConfig' },
      { name: 'values', access: 'write', type: 'array<u32>' },
    ],
    {
      declarations,
      structs: ChainConfig.wgsl,
      threads: CHAIN_THREADS,
      type,
      limbCount: limbs,
      limbs: range(limbs).map((i) => ({ i, member: member(i) })),
      load: element === 'u32' ? 'u32' : `bitcast<${element}>`,
      store: element === 'u32' ? 'u32' : 'bitcast<u32>',
      chains,
      each: range(chains).map((chain) => ({ chain, at: chain * limbs })),
      statements: range(times * chains).map((i) => ({ statement: wgsl(`x${i % chains}`) })),
    },
  );

export const fieldChain = (m: Modulus, operation: FieldOperation, chains: number): Kernel =>
  chainKernel(operation.representation(m), chains, 1, operation.wgsl, (i) => `.l${i}`);

/** One step of a probe, in place of an operation. */
export const probeChain = (probe: Probe): Kernel =>
  chainKernel(
    { ...probe, type: 'Limbs' },
    1,
    1,
    (x) => `${x} = probe(${x});`,
    (i) => `.l${i}`,
  );

export const peakChain = (operation: PeakOperation, chains: number): Kernel =>
  chainKernel(
    { declarations: '', type: 'u32', element: 'u32', limbs: 1 },
    chains,
    operation.perStep,
    operation.wgsl,
    () => '',
  );
