/** Records the operations of a run, checks their arguments, and joins scalings of transforms. */
import type {
  FieldOperations,
  FieldVector,
  ScalePowersOptions,
  SparseMatrix,
  TransformOptions,
} from '../../api/fields.js';
import { badArgument, show } from '../../errors.js';
import { invert, mod } from '../../field/modulus.js';
import { type OptionPlace, type OptionTable, readOptions } from '../../option-table.js';
import type { OpenField } from './open-field.js';
import { type Computation, type FieldStep, matrixOf, Vector, type VectorOwner, vectorOf } from './vectors.js';

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
  const own = new Uint32Array(given.length);
  for (let i = 0; i < own.length; i++) {
    const index = given[i] as number;
    if (!Number.isInteger(index) || index < 0 || index >= below) wholeNumber(`${name}[${i}]`, index, 0, below - 1);
    own[i] = index;
  }
  return own;
};

const placeOf = (kind: string): OptionPlace => ({ argument: `${kind}: options`, path: `${kind}: ` });

/** Operations on the elements of the same index. */
type Elementwise = 'add' | 'subtract' | 'multiply' | 'multiplyAdd' | 'multiplySubtract';

/** Operations of one run. */
export class Recorder implements FieldOperations {
  readonly steps: FieldStep[] = [];
  readonly #owner: VectorOwner;
  readonly #field: OpenField;
  #isOver = false;

  constructor(owner: VectorOwner, field: OpenField) {
    this.#owner = owner;
    this.#field = field;
  }

  /** Refuses operations from now on. */
  end(): void {
    this.#isOver = true;
  }

  #vector(name: string, given: FieldVector): Vector {
    if (this.#isOver) throw badArgument('operations can be recorded only until the callback of run returns');
    return vectorOf(this.#owner, name, given);
  }

  #number(name: string, given: unknown, least = 0n): bigint {
    const { p } = this.#field;
    if (typeof given !== 'bigint' || given < least || given >= p) {
      throw badArgument(`${name} must be a bigint from ${least} to p − 1, got ${show(given)}`);
    }
    return given;
  }

  #add(computation: Computation, operands: readonly Vector[], length: number): Vector {
    if (length > MOST_ELEMENTS) throw badArgument(`${computation.kind}: ${length} elements are more than 2^27`);
    const result = new Vector(this.#owner, length, 'recorded');
    this.steps.push({ computation, operands, result });
    return result;
  }

  #sameLength(kind: string, vectors: readonly Vector[]): number {
    const lengths = vectors.map(({ length }) => length);
    if (new Set(lengths).size > 1) {
      throw badArgument(`${kind}: its vectors must have the same length, got ${lengths.join(', ')}`);
    }
    return lengths[0] as number;
  }

  #elementwise(kind: Elementwise, ...given: FieldVector[]): Vector {
    const operands = given.map((each, i) => this.#vector(`${kind}: ${'abc'[i]}`, each));
    return this.#add({ kind }, operands, this.#sameLength(kind, operands));
  }

  keep(a: FieldVector): FieldVector {
    const vector = this.#vector('keep: a', a);
    vector.isKept = true;
    return vector;
  }

  #transform(kind: 'ntt' | 'intt', a: FieldVector, options: TransformOptions): Vector {
    const vector = this.#vector(`${kind}: a`, a);
    const { length } = vector;
    const { from, to, coset } = readOptions(transformOptions, options, placeOf(kind));
    const log = Math.log2(length);
    if (!Number.isInteger(log))
      throw badArgument(`${kind}: a has ${length} elements; their number must be a power of 2`);
    const { twoAdicity, name } = this.#field;
    if (log > twoAdicity) {
      throw badArgument(`${kind}: a has 2^${log} elements, and the longest transform of ${name} is 2^${twoAdicity}`);
    }
    const computation = {
      ...{ kind, from, to },
      coset: this.#number(`${kind}: coset`, coset, 1n),
      factor: kind === 'ntt' ? 1n : invert(BigInt(length), this.#field.p),
    };
    return this.#add(computation, [vector], length);
  }

  ntt(a: FieldVector, options: TransformOptions = {}): FieldVector {
    return this.#transform('ntt', a, options);
  }

  intt(a: FieldVector, options: TransformOptions = {}): FieldVector {
    return this.#transform('intt', a, options);
  }

  add(a: FieldVector, b: FieldVector): FieldVector {
    return this.#elementwise('add', a, b);
  }

  subtract(a: FieldVector, b: FieldVector): FieldVector {
    return this.#elementwise('subtract', a, b);
  }

  multiply(a: FieldVector, b: FieldVector): FieldVector {
    return this.#elementwise('multiply', a, b);
  }

  multiplyAdd(a: FieldVector, b: FieldVector, c: FieldVector): FieldVector {
    return this.#elementwise('multiplyAdd', a, b, c);
  }

  multiplySubtract(a: FieldVector, b: FieldVector, c: FieldVector): FieldVector {
    return this.#elementwise('multiplySubtract', a, b, c);
  }

  negate(a: FieldVector): FieldVector {
    return this.scale(this.#vector('negate: a', a), this.#field.p - 1n);
  }

  scale(a: FieldVector, factor: bigint): FieldVector {
    const vector = this.#vector('scale: a', a);
    return this.#add({ kind: 'scale', factor: this.#number('scale: factor', factor) }, [vector], vector.length);
  }

  scalePowers(a: FieldVector, base: bigint, options: ScalePowersOptions = {}): FieldVector {
    const vector = this.#vector('scalePowers: a', a);
    const { factor, order } = readOptions(scalePowersOptions, options, placeOf('scalePowers'));
    if (order === 'reversed' && !Number.isInteger(Math.log2(vector.length))) {
      throw badArgument(`scalePowers: a has ${vector.length} elements; reversed order needs a power of 2`);
    }
    const computation = {
      ...{ kind: 'scalePowers' as const, order, base: this.#number('scalePowers: base', base) },
      factor: this.#number('scalePowers: factor', factor),
    };
    return this.#add(computation, [vector], vector.length);
  }

  linearCombination(terms: readonly (readonly [factor: bigint, vector: FieldVector])[]): FieldVector {
    if (!Array.isArray(terms) || terms.length === 0) {
      throw badArgument(`linearCombination: terms must be an array of at least one pair, got ${show(terms)}`);
    }
    const name = (i: number) => `linearCombination: terms[${i}]`;
    for (const [i, term] of terms.entries()) {
      if (!Array.isArray(term))
        throw badArgument(`${name(i)} must be a pair of a factor and a vector, got ${show(term)}`);
    }
    const operands = terms.map(([, vector], i) => this.#vector(`${name(i)}[1]`, vector));
    const factors = terms.map(([factor], i) => this.#number(`${name(i)}[0]`, factor));
    const length = operands.reduce((most, vector) => Math.max(most, vector.length), 0);
    return this.#add({ kind: 'linearCombination', factors }, operands, length);
  }

  invert(a: FieldVector): FieldVector {
    const vector = this.#vector('invert: a', a);
    return this.#add({ kind: 'invert' }, [vector], vector.length);
  }

  prefixProduct(a: FieldVector): FieldVector {
    const vector = this.#vector('prefixProduct: a', a);
    return this.#add({ kind: 'prefixProduct' }, [vector], vector.length);
  }

  evaluate(a: FieldVector, x: bigint): FieldVector {
    const vector = this.#vector('evaluate: a', a);
    return this.#add({ kind: 'evaluate', x: this.#number('evaluate: x', x) }, [vector], 1);
  }

  divideByLinear(a: FieldVector, x: bigint): FieldVector {
    const vector = this.#vector('divideByLinear: a', a);
    const { length } = vector;
    if (length < 2) throw badArgument(`divideByLinear: a has ${length} element; it must have at least 2`);
    return this.#add({ kind: 'divideByLinear', x: this.#number('divideByLinear: x', x) }, [vector], length - 1);
  }

  slice(a: FieldVector, from: number, to?: number): FieldVector {
    const vector = this.#vector('slice: a', a);
    const end = wholeNumber('slice: to', to ?? vector.length, 1, vector.length);
    const first = wholeNumber('slice: from', from, 0, end - 1);
    return this.#add({ kind: 'slice', first }, [vector], end - first);
  }

  pad(a: FieldVector, length: number, from = 0): FieldVector {
    const vector = this.#vector('pad: a', a);
    const own = wholeNumber('pad: length', length, vector.length, MOST_ELEMENTS);
    const first = wholeNumber('pad: from', from, 0, own - vector.length);
    return this.#add({ kind: 'pad', first }, [vector], own);
  }

  gather(a: FieldVector, indices: ArrayLike<number>): FieldVector {
    const vector = this.#vector('gather: a', a);
    const own = copyIndices('gather: indices', indices, vector.length);
    if (own.length === 0) throw badArgument('gather: indices must have at least one index');
    return this.#add({ kind: 'gather', indices: own }, [vector], own.length);
  }

  apply(matrix: SparseMatrix, a: FieldVector): FieldVector {
    const vector = this.#vector('apply: a', a);
    const own = matrixOf(this.#owner, 'apply: matrix', matrix);
    if (vector.length !== own.columns) {
      throw badArgument(`apply: a has ${vector.length} elements, and the matrix ${own.columns} columns`);
    }
    return this.#add({ kind: 'apply', matrix: own }, [vector], own.rows);
  }
}

/**
 * Moves the factor 1/n of an inverse transform into the powers of a forward transform on a coset,
 * if nothing else uses the coefficients between them.
 */
export const fuseScalings = (steps: readonly FieldStep[], p: bigint): FieldStep[] => {
  const uses = new Map<Vector, number>();
  for (const { operands } of steps) for (const operand of operands) uses.set(operand, (uses.get(operand) ?? 0) + 1);
  const fused = [...steps];
  const makers = new Map(steps.map(({ result }, i) => [result, i]));
  for (const [i, step] of steps.entries()) {
    const { computation: own, operands } = step;
    if (own.kind !== 'ntt' || own.coset === 1n) continue;
    const coefficients = operands[0] as Vector;
    const maker = makers.get(coefficients);
    if (maker === undefined || coefficients.isKept || uses.get(coefficients) !== 1) continue;
    const before = fused[maker] as FieldStep;
    if (before.computation.kind !== 'intt' || before.computation.coset !== 1n) continue;
    fused[maker] = { ...before, computation: { ...before.computation, factor: 1n } };
    fused[i] = { ...step, computation: { ...own, factor: mod(own.factor * before.computation.factor, p) } };
  }
  return fused;
};
