/** What field-bench runs: operations of the field, and what the device does at its best. */
import { invert, type Modulus, mod } from '../../src/field/modulus.js';
import { fieldView } from '../../src/field/wgsl.js';
import { type Kernel, kernel } from '../../src/gpu/kernel.js';
import { struct } from '../../src/gpu/struct.js';
import template from './chain.wgsl?raw';

export const ChainConfig = struct('ChainConfig', { steps: 'length of each chain' });

export const CHAIN_THREADS = 64;

/** One operation of the field: its WGSL and its meaning on stored (Montgomery) values. */
export interface FieldOperation {
  readonly name: string;
  /** WGSL of one step on `x`, with `y` the first operand of the thread's first chain. */
  wgsl(x: string): string;
  /** Multiply-adds of 32 bits that one takes by the textbook; null where that says nothing. */
  multiplyAdds(m: Modulus): number | null;
  apply(m: Modulus, x: bigint, y: bigint, step: number): bigint;
}

export const fieldOperations = [
  {
    name: 'product',
    wgsl: (x) => `${x} = field_mul(${x}, y);`,
    multiplyAdds: ({ limbs }) => 2 * limbs * limbs,
    apply: (m, x, y) => mod(x * y * m.rInverse, m.p),
  },
  {
    name: 'square',
    wgsl: (x) => `${x} = field_square(${x});`,
    multiplyAdds: ({ limbs }) => (limbs * (limbs + 1)) / 2 + limbs * limbs,
    apply: (m, x) => mod(x * x * m.rInverse, m.p),
  },
  {
    name: 'inverse',
    // an inverse of an inverse leads back, so something is added in between
    wgsl: (x) => `${x} = field_add(field_inverse(${x}), y);`,
    multiplyAdds: () => null,
    apply: (m, x, y) => mod(invert(mod(x * m.rInverse, m.p), m.p) * m.r + y, m.p),
  },
  {
    name: 'add',
    wgsl: (x) => `${x} = field_add(${x}, y);`,
    multiplyAdds: () => null,
    apply: (m, x, y) => mod(x + y, m.p),
  },
  {
    name: 'subtract',
    wgsl: (x) => `${x} = field_sub(${x}, y);`,
    multiplyAdds: () => null,
    apply: (m, x, y) => mod(x - y, m.p),
  },
  {
    name: 'pack, unpack',
    wgsl: (x) => `${x} = field_unpack(with_bit(field_pack(${x}), step));`,
    multiplyAdds: () => null,
    apply: (_, x, __, step) => x ^ BigInt(step & 1),
  },
] as const satisfies readonly FieldOperation[];

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

const bindings = (type: string) =>
  [
    { name: 'config', access: 'uniform', type: 'ChainConfig' },
    { name: 'values', access: 'write', type: `array<${type}>` },
  ] as const;

const chainsOf = (chains: number, times: number, wgsl: (x: string) => string) => ({
  chains,
  each: Array.from({ length: chains }, (_, i) => ({ i })),
  statements: Array.from({ length: times * chains }, (_, i) => ({ statement: wgsl(`x${i % chains}`) })),
});

export const fieldChain = (m: Modulus, operation: FieldOperation, chains: number): Kernel =>
  kernel('chain', template, bindings('Packed'), {
    ...fieldView(m),
    structs: ChainConfig.wgsl,
    usesField: true,
    usesInverse: operation.name === 'inverse',
    threads: CHAIN_THREADS,
    ...chainsOf(chains, 1, operation.wgsl),
    load: 'field_unpack',
    store: 'field_pack',
  });

export const peakChain = (operation: PeakOperation, chains: number): Kernel =>
  kernel('chain', template, bindings('u32'), {
    structs: ChainConfig.wgsl,
    usesField: false,
    usesInverse: false,
    threads: CHAIN_THREADS,
    ...chainsOf(chains, operation.perStep, operation.wgsl),
    load: 'u32',
    store: 'u32',
  });
