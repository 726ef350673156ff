/**
 * Programs of vectors: a field, vectors, and runs of operations on them. fast-check draws and
 * shrinks them. A program is plain data, and any numbers make a valid one: operands are indices
 * modulo the number of vectors, and lengths are cut to what an operation takes.
 */
import fc from 'fast-check';
import type { FieldEngineOptions } from '../../../src/fields.js';

export const contents = ['random', 'edges', 'sparse', 'equal', 'zero'] as const;

export interface Loaded {
  readonly n: number;
  readonly from: (typeof contents)[number];
  readonly seed: number;
}

export const operationKinds = [
  ...(['ntt', 'intt', 'add', 'subtract', 'multiply', 'multiplyAdd', 'multiplySubtract', 'negate', 'scale'] as const),
  ...(['scalePowers', 'linearCombination', 'invert', 'prefixProduct', 'evaluate', 'divideByLinear'] as const),
  ...(['slice', 'pad', 'gather', 'apply'] as const),
] as const;
export type OperationKind = (typeof operationKinds)[number];

export interface Operation {
  readonly kind: OperationKind;
  /** Operands, counted back from the last vector. */
  readonly operands: readonly [number, number, number];
  /** Draws all parameters. */
  readonly seed: number;
  readonly keeps: boolean;
  /** Ends the run after this operation; later runs have its kept vectors. */
  readonly ends: boolean;
}

export interface FieldProgram {
  /** Name of a field, or a prime in decimal. */
  readonly field: string;
  readonly arithmetic: NonNullable<FieldEngineOptions['arithmetic']>;
  readonly verify: boolean;
  readonly loaded: readonly Loaded[];
  readonly operations: readonly Operation[];
}

/** Fields, the most usual first. Each has kernels of its own on the GPU. */
const fields = [
  ...['bn254-fr', 'bn254-fr', 'bn254-fr', 'bls12-381-fr', 'pallas-fr', 'bls12-377-fr', 'vesta-fr'],
  // 2^61 − 1 has transforms of two elements only; 2^64 − 2^32 + 1 fills two words
  ...['2305843009213693951', '18446744069414584321'],
];

const sizes = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: 1, max: 16 }),
    fc
      .tuple(fc.nat(Math.floor(Math.log2(most))), fc.integer({ min: -1, max: 1 }))
      .map(([log, by]) => Math.min(most, Math.max(1, 2 ** log + by))),
    fc.integer({ min: 1, max: most }),
  );

const operations: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom(...operationKinds),
  operands: fc.tuple(fc.nat(7), fc.nat(7), fc.nat(7)),
  seed: fc.nat(2 ** 30),
  keeps: fc.boolean(),
  ends: fc.nat(5).map((drawn) => drawn === 5),
});

export const fieldPrograms = (mostElements = 2048): fc.Arbitrary<FieldProgram> =>
  fc.record({
    field: fc.constantFrom(...fields),
    arithmetic: fc.constantFrom('auto', 'auto', 'wasm', 'wasm-simd'),
    verify: fc.nat(3).map((drawn) => drawn === 3),
    loaded: fc.array(fc.record({ n: sizes(mostElements), from: fc.constantFrom(...contents), seed: fc.nat(999) }), {
      minLength: 1,
      maxLength: 3,
    }),
    operations: fc.array(operations, { minLength: 1, maxLength: 12 }),
  });
