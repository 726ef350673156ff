/**
 * The operations on vectors: one table with an entry for each, and the recorder of a run, which is
 * made of it. `cpuOperations` of ../cpu/cpu-operations.ts and `gpuOperations` of ../gpu/run-job.ts
 * compute the same names: neither compiles where one is missing. They are tables of their own
 * because the GPU's is loaded with the first engine that has a GPU.
 */
import type {
  FieldOperations,
  FieldOrder,
  FieldVector,
  ScalePowersOptions,
  TransformOptions,
} from '../../api/fields.js';
import { badArgument, show } from '../../errors.js';
import { invert } from '../../field/modulus.js';
import { type OptionPlace, type OptionTable, readOptions } from '../../option-table.js';
import type { OpenField } from './open-field.js';
import { type Matrix, matrixOf, Vector, type VectorOwner, vectorOf } from './vectors.js';

/** A transform, as its step has it. */
export interface Transform {
  readonly from: FieldOrder;
  readonly to: FieldOrder;
  readonly coset: bigint;
  /** Factor of the result, beside the powers of the coset; 1/n of an inverse transform. */
  readonly factor: bigint;
}

/** Parameters of a step besides its operands, by the name of its operation. */
export interface StepParameters {
  readonly add: object;
  readonly subtract: object;
  readonly multiply: object;
  readonly multiplyAdd: object;
  readonly multiplySubtract: object;
  readonly scale: { readonly factor: bigint };
  readonly scalePowers: { readonly base: bigint; readonly factor: bigint; readonly order: FieldOrder };
  readonly linearCombination: { readonly factors: readonly bigint[] };
  readonly ntt: Transform;
  readonly intt: Transform;
  readonly invert: object;
  readonly prefixProduct: object;
  readonly evaluate: { readonly x: bigint };
  readonly divideByLinear: { readonly x: bigint };
  readonly slice: { readonly first: number };
  readonly pad: { readonly first: number };
  readonly gather: { readonly indices: Uint32Array };
  readonly apply: { readonly matrix: Matrix };
}

/** Name of an operation. */
export type Kind = keyof StepParameters;

/** Operations on the elements of the same index. */
export type Elementwise = 'add' | 'subtract' | 'multiply' | 'multiplyAdd' | 'multiplySubtract';

/** One operation of a run. */
export type FieldStep<Of extends Kind = Kind> = {
  readonly [Own in Of]: {
    readonly kind: Own;
    readonly parameters: StepParameters[Own];
    readonly operands: readonly Vector[];
    readonly result: Vector;
  };
}[Of];

/** An operation, but for the functions that compute it. Its calls have the arguments `Given`. */
interface Operation<Given extends readonly unknown[], Own> {
  /**
   * Vectors that it reads: whole ones, or parts of vectors as well, because the stage `combine`
   * reads for it.
   */
  readonly reads: 'whole' | 'parts';
  /**
   * Its result: a new vector; one that may take the memory of an operand of the same length; or a
   * part of its operand or a longer vector with it, which a GPU reads where the operand is.
   */
  readonly result: 'new' | 'inPlace' | 'part';
  /** Checks the arguments of a call. @throws MsmError `bad-argument`, `destroyed` */
  record(check: Arguments, ...given: Given): Recorded<Own>;
}

type OperationOf<Of extends Kind> = Operation<Parameters<FieldOperations[Of]>, StepParameters[Of]>;

/** A call whose arguments are checked. */
interface Recorded<Own> {
  readonly parameters: Own;
  readonly operands: readonly Vector[];
  /** Elements of the result. */
  readonly length: number;
}

/** Most elements of a vector. */
const MOST_ELEMENTS = 2 ** 27;

const orderRow = { kind: 'choice', range: ['natural', 'reversed'], default: 'natural' } as const;

/** `ntt` and `intt`. */
const transformOptions = {
  of: 'transforms',
  rows: { from: orderRow, to: orderRow, coset: { kind: 'any', default: 1n } },
} as const satisfies OptionTable<TransformOptions>;

/** `scalePowers`. */
const scalePowersOptions = {
  of: 'scalePowers',
  rows: { factor: { kind: 'any', default: 1n }, order: orderRow },
} as const satisfies OptionTable<ScalePowersOptions>;

const placeOf = (kind: string): OptionPlace => ({ argument: `${kind}: options`, path: `${kind}: ` });

/** Returns a call with one operand. @param length elements of the result */
const ofOne = <Own>(vector: Vector, parameters: Own, length = vector.length): Recorded<Own> => ({
  parameters,
  operands: [vector],
  length,
});

/** @param count operands */
const elementwise = (kind: Elementwise, count: 2 | 3): Operation<readonly FieldVector[], object> => ({
  reads: 'parts',
  result: 'inPlace',
  record: (check, ...given) => {
    const operands = [...'abc'.slice(0, count)].map((name, i) =>
      check.vector(`${kind}: ${name}`, given[i] as FieldVector),
    );
    const lengths = operands.map(({ length }) => length);
    if (new Set(lengths).size > 1) {
      throw badArgument(`${kind}: its vectors must have the same length, got ${lengths.join(', ')}`);
    }
    return { parameters: {}, operands, length: lengths[0] as number };
  },
});

const transform = (kind: 'ntt' | 'intt'): Operation<Parameters<FieldOperations['ntt']>, Transform> => ({
  reads: 'parts',
  result: 'inPlace',
  record: (check, a, options = {}) => {
    const { twoAdicity, name, p } = check.field;
    const vector = check.vector(`${kind}: a`, a);
    const { length } = vector;
    const { from, to, coset } = readOptions(transformOptions, options, placeOf(kind));
    const log = Math.log2(length);
    if (!Number.isInteger(log)) {
      throw badArgument(`${kind}: a has ${length} elements; their number must be a power of 2`);
    }
    if (log > twoAdicity) {
      throw badArgument(`${kind}: a has 2^${log} elements, and the longest transform of ${name} is 2^${twoAdicity}`);
    }
    const factor = kind === 'ntt' ? 1n : invert(BigInt(length), p);
    const parameters = { from, to, coset: check.number(`${kind}: coset`, coset, 1n), factor };
    return ofOne(vector, parameters);
  },
});

/** An operation on one vector without parameters. */
const alone = (kind: 'invert' | 'prefixProduct'): Operation<readonly [FieldVector], object> => ({
  reads: 'whole',
  result: 'new',
  record: (check, a) => ofOne(check.vector(`${kind}: a`, a), {}),
});

/** The operations by name. */
export const operations: { readonly [Of in Kind]: OperationOf<Of> } = {
  add: elementwise('add', 2),
  subtract: elementwise('subtract', 2),
  multiply: elementwise('multiply', 2),
  multiplyAdd: elementwise('multiplyAdd', 3),
  multiplySubtract: elementwise('multiplySubtract', 3),
  scale: {
    reads: 'parts',
    result: 'inPlace',
    record: (check, a, factor) => {
      const vector = check.vector('scale: a', a);
      return ofOne(vector, { factor: check.number('scale: factor', factor) });
    },
  },
  scalePowers: {
    reads: 'parts',
    result: 'inPlace',
    record: (check, a, base, options = {}) => {
      const vector = check.vector('scalePowers: a', a);
      const { length } = vector;
      const { factor, order } = readOptions(scalePowersOptions, options, placeOf('scalePowers'));
      if (order === 'reversed' && !Number.isInteger(Math.log2(length))) {
        throw badArgument(`scalePowers: a has ${length} elements; reversed order needs a power of 2`);
      }
      return ofOne(vector, {
        order,
        base: check.number('scalePowers: base', base),
        factor: check.number('scalePowers: factor', factor),
      });
    },
  },
  linearCombination: {
    reads: 'parts',
    result: 'new',
    record: (check, terms) => {
      if (!Array.isArray(terms) || terms.length === 0) {
        throw badArgument(`linearCombination: terms must be an array of at least one pair, got ${show(terms)}`);
      }
      const name = (i: number) => `linearCombination: terms[${i}]`;
      for (const [i, term] of terms.entries()) {
        if (Array.isArray(term)) continue;
        throw badArgument(`${name(i)} must be a pair of a factor and a vector, got ${show(term)}`);
      }
      const operands = terms.map(([, vector], i) => check.vector(`${name(i)}[1]`, vector));
      const factors = terms.map(([factor], i) => check.number(`${name(i)}[0]`, factor));
      const length = operands.reduce((most, vector) => Math.max(most, vector.length), 0);
      return { parameters: { factors }, operands, length };
    },
  },
  ntt: transform('ntt'),
  intt: transform('intt'),
  invert: alone('invert'),
  prefixProduct: alone('prefixProduct'),
  evaluate: {
    reads: 'whole',
    result: 'new',
    record: (check, a, x) => {
      const vector = check.vector('evaluate: a', a);
      return ofOne(vector, { x: check.number('evaluate: x', x) }, 1);
    },
  },
  divideByLinear: {
    reads: 'whole',
    result: 'new',
    record: (check, a, x) => {
      const vector = check.vector('divideByLinear: a', a);
      const { length } = vector;
      if (length < 2) throw badArgument(`divideByLinear: a has ${length} element; it must have at least 2`);
      return ofOne(vector, { x: check.number('divideByLinear: x', x) }, length - 1);
    },
  },
  slice: {
    reads: 'whole',
    result: 'part',
    record: (check, a, from, to) => {
      const vector = check.vector('slice: a', a);
      const end = wholeNumber('slice: to', to ?? vector.length, 1, vector.length);
      const first = wholeNumber('slice: from', from, 0, end - 1);
      return ofOne(vector, { first }, end - first);
    },
  },
  pad: {
    reads: 'whole',
    result: 'part',
    record: (check, a, given, from = 0) => {
      const vector = check.vector('pad: a', a);
      const length = wholeNumber('pad: length', given, vector.length, MOST_ELEMENTS);
      const first = wholeNumber('pad: from', from, 0, length - vector.length);
      return ofOne(vector, { first }, length);
    },
  },
  gather: {
    reads: 'whole',
    result: 'new',
    record: (check, a, given) => {
      const vector = check.vector('gather: a', a);
      const indices = copyIndices('gather: indices', given, vector.length);
      if (indices.length === 0) throw badArgument('gather: indices must have at least one index');
      return ofOne(vector, { indices }, indices.length);
    },
  },
  apply: {
    reads: 'whole',
    result: 'new',
    record: (check, given, a) => {
      const vector = check.vector('apply: a', a);
      const matrix = matrixOf(check.owner, 'apply: matrix', given);
      if (vector.length !== matrix.columns) {
        throw badArgument(`apply: a has ${vector.length} elements, and the matrix ${matrix.columns} columns`);
      }
      return ofOne(vector, { matrix }, matrix.rows);
    },
  },
};

/** Checks the arguments of the calls of one run. */
class Arguments {
  readonly owner: VectorOwner;
  readonly field: OpenField;
  /** True once the callback of the run has returned. */
  isOver = false;

  constructor(owner: VectorOwner, field: OpenField) {
    this.owner = owner;
    this.field = field;
  }

  vector(name: string, given: FieldVector): Vector {
    if (this.isOver) throw badArgument('operations can be recorded only until the callback of run returns');
    return vectorOf(this.owner, name, given);
  }

  number(name: string, given: unknown, least = 0n): bigint {
    const { p } = this.field;
    if (typeof given !== 'bigint' || given < least || given >= p) {
      throw badArgument(`${name} must be a bigint from ${least} to p − 1, got ${show(given)}`);
    }
    return given;
  }
}

/**
 * Records the operations that a callback calls.
 *
 * @throws MsmError `bad-argument`, `destroyed`; errors of the callback
 */
export const recordSteps = <Result>(
  owner: VectorOwner,
  field: OpenField,
  record: (operations: FieldOperations) => Result,
): { readonly steps: readonly FieldStep[]; readonly result: Result } => {
  const steps: FieldStep[] = [];
  const check = new Arguments(owner, field);
  const recorderOf = <Of extends Kind>(kind: Of) => {
    const operation: OperationOf<Of> = operations[kind];
    return (...given: Parameters<FieldOperations[Of]>): Vector => {
      const { parameters, operands, length } = operation.record(check, ...given);
      if (length > MOST_ELEMENTS) throw badArgument(`${kind}: ${length} elements are more than 2^27`);
      const result = new Vector(owner, length, 'recorded');
      steps.push({ kind, parameters, operands, result } as FieldStep);
      return result;
    };
  };
  const entries = (Object.keys(operations) as Kind[]).map((kind) => [kind, recorderOf(kind)]);
  const recorders: Pick<FieldOperations, Kind> = Object.fromEntries(entries);
  try {
    const result = record({
      ...recorders,
      negate: (a) => recorders.scale(check.vector('negate: a', a), field.p - 1n),
      keep: (a) => {
        const vector = check.vector('keep: a', a);
        vector.isKept = true;
        return vector;
      },
    });
    return { steps, result };
  } finally {
    check.isOver = true;
  }
};

/** @throws MsmError `bad-argument` unless `given` is a whole number from `least` to `most` */
const wholeNumber = (name: string, given: unknown, least: number, most: number): number => {
  if (!Number.isInteger(given) || (given as number) < least || (given as number) > most) {
    throw badArgument(`${name} must be a whole number from ${least} to ${most}, got ${show(given)}`);
  }
  return given as number;
};

/** Copies indices. @param below bound of each */
export const copyIndices = (name: string, given: ArrayLike<number>, below: number): Uint32Array => {
  if (typeof given !== 'object' || given === null || !Number.isInteger(given.length) || given.length < 0) {
    throw badArgument(`${name} must be an array of numbers, got ${show(given)}`);
  }
  // a loop without calls: each proof gathers as many elements as its circuit has wires
  const indices = new Uint32Array(given.length);
  for (let i = 0; i < indices.length; i++) {
    const index = given[i] as number;
    if (!Number.isInteger(index) || index < 0 || index >= below) wholeNumber(`${name}[${i}]`, index, 0, below - 1);
    indices[i] = index;
  }
  return indices;
};
