/** How the CPU computes each operation on vectors: its phases, its products, and how long it takes. */
import { passesOverMemory } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import type { Phase, Phases } from '../../wasm/vectors/vector-program.js';
import type { Elementwise, FieldStep, Kind, StepParameters, Transform } from '../program/operations.js';
import type { Matrix } from '../program/vectors.js';
import type { Arena } from './arena.js';
import { clearVector, copyVector, elementwise, linearCombination, multiplyByPowers, scale, signOf } from './combine.js';
import { multiplyMatrix, type PlacedMatrix } from './rows.js';
import { divideByLinear, evaluate, invertAll, prefixProduct } from './scan.js';
import { productsOfTransform, tablesOfTransform, transform } from './transform.js';

/** Time of a product and of a sum or copy of elements, in µs. */
const [PRODUCT_US, ELEMENT_US] = [0.03, 0.01];

/** Matrices in memory. */
type Matrices = ReadonlyMap<Matrix, PlacedMatrix>;

/** Returns the estimated time of a step on one thread, in ms. */
export const millisecondsOf = (
  { kind, parameters, operands, result: { length } }: FieldStep,
  matrices: Matrices,
  p: bigint,
): number => {
  const lengths = operands.map((operand) => operand.length);
  const products = productsOf(kind, { p, matrices, parameters, lengths, length } as StepSize<StepParameters[Kind]>);
  return (products * PRODUCT_US + Math.max(length, ...lengths) * ELEMENT_US) / 1000;
};

/** The sizes of a step. */
interface StepSize<Parameters> {
  /** The prime. */
  readonly p: bigint;
  readonly matrices: Matrices;
  readonly parameters: Parameters;
  /** Elements of each operand, and of the result. */
  readonly lengths: readonly number[];
  readonly length: number;
}

/** A step whose operands and result have memory. */
interface PlacedStep<Parameters> extends StepSize<Parameters> {
  readonly arena: Arena;
  /** The operands, and the first of them. */
  readonly from: readonly VectorAt[];
  readonly a: VectorAt;
  /** The result. */
  readonly to: VectorAt;
}

/** How the CPU computes an operation. */
interface CpuOperation<Parameters> {
  compute(step: PlacedStep<Parameters>): Phases;
  /** Products of elements. */
  products(step: StepSize<Parameters>): number;
  /** Passes over memory of a transform. */
  passes?(step: StepSize<Parameters>): number;
  /** Makes the tables that it reads, which stay for later steps. */
  tables?(arena: Arena, step: StepSize<Parameters>): Phases;
}

const ofElements = (kind: Elementwise, products: 0 | 1): CpuOperation<object> => ({
  compute: ({ arena, to, from, length }) => elementwise(arena, kind, { to, operands: from, length }),
  products: ({ length }) => products * length,
});

const ofTransform = (kind: 'ntt' | 'intt'): CpuOperation<Transform> => ({
  *compute({ arena, parameters, to, a, length }) {
    if (to !== a) yield* copyVector(arena, to, a, length);
    yield* transform(arena, kind, parameters, { at: to, length });
  },
  products: ({ parameters, length }) => productsOfTransform(parameters, length),
  passes: ({ length }) => passesOverMemory(length),
  tables: (arena, { parameters, length }) => tablesOfTransform(arena, kind, parameters, length),
});

const none = (): number => 0;

/** The operations on the CPU, by the names of `operations`. */
const cpuOperations: { readonly [Of in Kind]: CpuOperation<StepParameters[Of]> } = {
  add: ofElements('add', 0),
  subtract: ofElements('subtract', 0),
  multiply: ofElements('multiply', 1),
  multiplyAdd: ofElements('multiplyAdd', 1),
  multiplySubtract: ofElements('multiplySubtract', 1),
  scale: {
    compute: (step) => scale(step.arena, step.parameters.factor, step),
    products: ({ length }) => length,
  },
  scalePowers: {
    *compute({ arena, parameters, to, a, length }) {
      if (to !== a) yield* copyVector(arena, to, a, length);
      yield* multiplyByPowers(arena, to, { ...parameters, length });
    },
    products: ({ length }) => length,
    *tables(arena, { parameters, length }) {
      if (parameters.base !== 1n) yield* arena.tables.powers({ ...parameters, length });
    },
  },
  linearCombination: {
    compute({ arena, parameters: { factors }, to, from, lengths, length }) {
      const terms = from.map((at, k) => ({
        factor: factors[k] as bigint,
        at,
        length: lengths[k] as number,
      }));
      return linearCombination(arena, terms, { to, length });
    },
    products: ({ p, parameters: { factors }, lengths }) =>
      lengths.reduce((sum, length, k) => sum + (signOf(factors[k] as bigint, p) === null ? length : 0), 0),
  },
  ntt: ofTransform('ntt'),
  intt: ofTransform('intt'),
  invert: {
    compute: (step) => invertAll(step.arena, step),
    products: ({ length }) => 3 * length,
  },
  prefixProduct: {
    compute: (step) => prefixProduct(step.arena, step),
    products: ({ length }) => 2 * length,
  },
  evaluate: {
    compute: ({ arena, parameters: { x }, to, a, lengths: [length] }) =>
      evaluate(arena, x, { to, a, length: length as number }),
    products: ({ lengths: [length] }) => length as number,
  },
  divideByLinear: {
    compute: ({ arena, parameters: { x }, to, a, lengths: [length] }) =>
      divideByLinear(arena, x, { to, a, length: length as number }),
    products: ({ length }) => 2 * length,
  },
  slice: {
    compute: ({ arena, parameters: { first }, to, a, length }) =>
      copyVector(arena, to, a + first * arena.bytes, length),
    products: none,
  },
  pad: {
    *compute({ arena, parameters: { first }, to, a, lengths, length }) {
      yield* clearVector(arena, to, length);
      yield* copyVector(arena, to + first * arena.bytes, a, lengths[0] as number);
    },
    products: none,
  },
  gather: {
    *compute({ arena, parameters: { indices }, to, a }) {
      yield { alone: () => arena.memory.pick(to, a, indices) };
    },
    products: none,
  },
  apply: {
    compute: ({ arena, matrices, parameters: { matrix }, to, a }) =>
      multiplyMatrix(arena, matrices.get(matrix) as PlacedMatrix, { to, a }),
    products: ({ matrices, parameters: { matrix } }) => matrices.get(matrix)?.triples ?? 0,
  },
};

/** Returns the products of a step. */
const productsOf = <Of extends Kind>(kind: Of, size: StepSize<StepParameters[Of]>): number => {
  const operation: CpuOperation<StepParameters[Of]> = cpuOperations[kind];
  return operation.products(size);
};

/** Makes the tables that a step reads. */
export function* tablesOf<Of extends Kind>(kind: Of, arena: Arena, size: StepSize<StepParameters[Of]>): Phases {
  const operation: CpuOperation<StepParameters[Of]> = cpuOperations[kind];
  if (operation.tables !== undefined) yield* operation.tables(arena, size);
}

/** Computes a step. @returns its products and passes */
export function* computeStep<Of extends Kind>(
  kind: Of,
  step: PlacedStep<StepParameters[Of]>,
): Generator<Phase, { readonly products: number; readonly passes: number }> {
  const operation: CpuOperation<StepParameters[Of]> = cpuOperations[kind];
  yield* operation.compute(step);
  return { products: operation.products(step), passes: operation.passes?.(step) ?? 0 };
}
