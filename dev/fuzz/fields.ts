/**
 * Programs of vectors of field elements: a field, vectors, and runs of operations on them. They run on
 * the CPU and on a GPU, and all bits are compared with the oracle. A program is plain data, and any
 * numbers make a valid one: operands are indices modulo the number of vectors.
 */
import fc from 'fast-check';
import type { TransformOptions } from '../../src/api/fields.js';
import { VectorThreads } from '../../src/fields/cpu/vector-threads.js';
import {
  createFieldEngine,
  type FieldEngine,
  type FieldEngineOptions,
  type FieldName,
  type FieldOperations,
  type FieldVector,
  type SparseMatrix,
} from '../../src/fields.js';
import { createMsmEngine, type MsmEngine } from '../../src/index.js';
import { FieldValues, numbersIn, type OracleMatrix } from '../oracle/field-values.js';
import { Random } from '../oracle/known-bases.js';
import { type FoundProgram, keepPipelines, runPrograms } from './run-programs.js';

const contents = ['random', 'edges', 'sparse', 'equal', 'zero'] as const;

interface Loaded {
  readonly n: number;
  readonly from: (typeof contents)[number];
  readonly seed: number;
}

export const operationKinds = [
  ...(['ntt', 'intt', 'add', 'subtract', 'multiply', 'multiplyAdd', 'multiplySubtract', 'negate', 'scale'] as const),
  ...(['scalePowers', 'linearCombination', 'invert', 'prefixProduct', 'evaluate', 'divideByLinear'] as const),
  ...(['slice', 'pad', 'gather', 'apply'] as const),
] as const;
type OperationKind = (typeof operationKinds)[number];

interface Operation {
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
  /** Workers of the CPU, and whether they share memory. */
  readonly workers: number;
  readonly shares: boolean;
  readonly loaded: readonly Loaded[];
  readonly operations: readonly Operation[];
}

/** Fields, the most usual first. Each has kernels of its own on the GPU. */
export const fields = [
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
    workers: fc.constantFrom(0, 0, 1, 2, 3, 7),
    shares: fc.boolean(),
    loaded: fc.array(fc.record({ n: sizes(mostElements), from: fc.constantFrom(...contents), seed: fc.nat(999) }), {
      minLength: 1,
      maxLength: 3,
    }),
    operations: fc.array(operations, { minLength: 1, maxLength: 12 }),
  });

/** Operations on vectors of some kind: those of a run, or those of the oracle. */
interface Machine<Vector, Matrix> {
  ntt(a: Vector, options: TransformOptions): Vector;
  intt(a: Vector, options: TransformOptions): Vector;
  add(a: Vector, b: Vector): Vector;
  subtract(a: Vector, b: Vector): Vector;
  multiply(a: Vector, b: Vector): Vector;
  multiplyAdd(a: Vector, b: Vector, c: Vector): Vector;
  multiplySubtract(a: Vector, b: Vector, c: Vector): Vector;
  negate(a: Vector): Vector;
  scale(a: Vector, factor: bigint): Vector;
  scalePowers(a: Vector, base: bigint, options: { factor: bigint; order: 'natural' | 'reversed' }): Vector;
  linearCombination(terms: readonly (readonly [bigint, Vector])[]): Vector;
  invert(a: Vector): Vector;
  prefixProduct(a: Vector): Vector;
  evaluate(a: Vector, x: bigint): Vector;
  divideByLinear(a: Vector, x: bigint): Vector;
  slice(a: Vector, from: number, to: number): Vector;
  pad(a: Vector, length: number, from: number): Vector;
  gather(a: Vector, indices: readonly number[]): Vector;
  apply(matrix: Matrix, a: Vector): Vector;
}

/** Most elements that an operation makes longer. */
const MOST = 4096;

const drawNumber = (random: Random, p: bigint): bigint => {
  const edges = [0n, 1n, p - 1n, 2n, (p - 1n) / 2n];
  return random.below(3) === 0 ? (edges[random.below(edges.length)] as bigint) : random.belowBig(p);
};

const numbersOf = ({ n, from, seed }: Loaded, p: bigint): bigint[] => {
  const random = new Random(seed);
  const equal = random.belowBig(p);
  const of = {
    random: () => random.belowBig(p),
    edges: () => drawNumber(random, p),
    sparse: () => (random.below(8) === 0 ? random.belowBig(p) : 0n),
    equal: () => equal,
    zero: () => 0n,
  };
  return Array.from({ length: n }, of[from]);
};

/** Returns the matrix of an `apply`. One row in four has most of the entries. */
const matrixOf = ({ seed }: Operation, p: bigint): OracleMatrix => {
  const random = new Random(seed);
  const [rows, columns] = [1 + random.below(200), 1 + random.below(300)];
  const entries = random.below(3 * rows);
  const long = random.below(rows);
  const draw = <Item>(of: () => Item): Item[] => Array.from({ length: entries }, of);
  return {
    ...{ rows, columns },
    row: draw(() => (random.below(4) === 0 ? long : random.below(rows))),
    column: draw(() => random.below(columns)),
    values: draw(() => drawNumber(random, p)),
  };
};

/** Computes an operation. @param twoAdicity of p − 1 @param given last vectors, the last first */
const interpret = <Vector extends { readonly length: number }, Matrix>(
  { kind, operands, seed }: Operation,
  machine: Machine<Vector, Matrix>,
  given: readonly Vector[],
  { p, twoAdicity, matrix }: { readonly p: bigint; readonly twoAdicity: number; readonly matrix: Matrix | null },
): Vector => {
  const random = new Random(seed);
  const [a, b, c] = operands.map((i) => given[i % given.length]) as [Vector, Vector, Vector];
  const number = (): bigint => drawNumber(random, p);
  const order = (): 'natural' | 'reversed' => (random.below(2) === 0 ? 'natural' : 'reversed');
  const fitted = (v: Vector, length: number): Vector => {
    if (v.length === length) return v;
    return v.length > length ? machine.slice(v, v.length - length, v.length) : machine.pad(v, length, 0);
  };
  /** Cuts a vector to a power of two. */
  const halved = (v: Vector, most = 32): Vector => fitted(v, 2 ** Math.min(Math.floor(Math.log2(v.length)), most));
  const n = a.length;
  switch (kind) {
    case 'ntt':
    case 'intt': {
      const coset = random.below(2) === 0 ? 1n : number() || 1n;
      return machine[kind](halved(a, twoAdicity), { from: order(), to: order(), coset });
    }
    case 'add':
    case 'subtract':
    case 'multiply':
      return machine[kind](a, fitted(b, n));
    case 'multiplyAdd':
    case 'multiplySubtract':
      return machine[kind](a, fitted(b, n), fitted(c, n));
    case 'negate':
    case 'invert':
    case 'prefixProduct':
      return machine[kind](a);
    case 'scale':
      return machine.scale(a, number());
    case 'scalePowers': {
      const own = order();
      return machine.scalePowers(own === 'natural' ? a : halved(a), number(), { factor: number(), order: own });
    }
    case 'linearCombination':
      return machine.linearCombination([a, b, c].slice(0, 1 + random.below(3)).map((v) => [number(), v] as const));
    case 'evaluate':
      return machine.evaluate(a, number());
    case 'divideByLinear':
      return machine.divideByLinear(fitted(a, Math.max(2, n)), number());
    case 'slice': {
      const from = random.below(n);
      return machine.slice(a, from, from + 1 + random.below(n - from));
    }
    case 'pad': {
      const length = n + random.below(Math.max(1, Math.min(n, MOST - n)));
      return machine.pad(a, length, random.below(length - n + 1));
    }
    case 'gather':
      return machine.gather(
        a,
        Array.from({ length: 1 + random.below(2 * n) }, () => random.below(n)),
      );
    case 'apply': {
      const own = matrix as Matrix & { readonly columns: number };
      return machine.apply(own, fitted(a, own.columns));
    }
  }
};

type Values = readonly bigint[];

/** Vectors that operands are counted from. */
const LAST = 8;

/** Properties that a plan and the record of its run have in common. */
const PLANNED = ['on', 'operations', 'products', 'passes', 'dispatches', 'submits'];

const runsOf = (operations: readonly Operation[]): Operation[][] => {
  const runs: Operation[][] = [[]];
  for (const operation of operations) {
    runs.at(-1)?.push(operation);
    if (operation.ends) runs.push([]);
  }
  return runs.filter(({ length }) => length > 0);
};

/** Engines that lend their workers, by the number of them and whether they share memory. */
const lenders = new Map<string, Promise<MsmEngine>>();

/** Calls `work` where no memory can be shared, unless `shares`. */
const sharing = async <Result>(shares: boolean, work: () => Promise<Result>): Promise<Result> => {
  if (shares) return work();
  const before = Object.getOwnPropertyDescriptor(globalThis, 'crossOriginIsolated');
  Object.defineProperty(globalThis, 'crossOriginIsolated', { value: false, configurable: true });
  try {
    return await work();
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, 'crossOriginIsolated');
    else Object.defineProperty(globalThis, 'crossOriginIsolated', before);
  }
};

/** Returns an engine whose workers compute vectors, however short these are. */
const lenderOf = (maxWorkers: number, shares: boolean): Promise<MsmEngine> => {
  VectorThreads.prototype.workersFor = function (this: VectorThreads): number {
    return this.most;
  };
  VectorThreads.prototype.isWorthSending = () => true;
  const key = `${maxWorkers} ${shares}`;
  const lender = lenders.get(key) ?? createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers });
  lenders.set(key, lender);
  return lender;
};

const openField = (
  { field: name, arithmetic, verify, workers, shares }: FieldProgram,
  device: GPUDevice | null,
): Promise<FieldEngine> => {
  const field = /^\d/.test(name) ? { p: BigInt(name) } : (name as FieldName);
  if (device !== null) return createFieldEngine({ field, device, verify });
  // the first engine of vectors opens the pool of its lender
  return sharing(shares, async () =>
    createFieldEngine({ field, arithmetic, backend: 'cpu', deviceOf: await lenderOf(workers, shares) }),
  );
};

/** Vectors of an engine, and their values by the oracle. */
interface Pair {
  readonly vector: FieldVector;
  readonly values: Values;
}

class Execution {
  readonly #fr: FieldEngine;
  readonly #oracle: FieldValues;
  readonly #twoAdicity: number;
  #pairs: Pair[] = [];

  constructor(fr: FieldEngine) {
    this.#fr = fr;
    this.#oracle = new FieldValues(fr.p);
    this.#twoAdicity = Math.log2(fr.longestTransform);
  }

  async load({ loaded }: FieldProgram): Promise<void> {
    for (const each of loaded) {
      const values = numbersOf(each, this.#fr.p);
      this.#pairs.push({ vector: await this.#fr.load(values), values });
    }
  }

  /** Computes one run, and compares what it keeps. @throws Error if something differs */
  async run(operations: readonly Operation[]): Promise<void> {
    const fr = this.#fr;
    const matrices = new Map<Operation, SparseMatrix>();
    for (const each of operations) {
      if (each.kind === 'apply') matrices.set(each, await fr.loadMatrix(matrixOf(each, fr.p)));
    }
    const compute = (ops: FieldOperations): Pair[] => {
      const pairs = [...this.#pairs];
      const made: Pair[] = [];
      for (const each of operations) {
        const last = pairs.slice(-LAST).reverse();
        const given = { vectors: last.map(({ vector }) => vector), values: last.map(({ values }) => values) };
        const of = { p: fr.p, twoAdicity: this.#twoAdicity };
        const machine = ops as Machine<FieldVector, SparseMatrix>;
        const vector = interpret(each, machine, given.vectors, { ...of, matrix: matrices.get(each) ?? null });
        const matrix = each.kind === 'apply' ? matrixOf(each, fr.p) : null;
        const oracle = this.#oracle as Machine<Values, typeof matrix>;
        const values = interpret(each, oracle, given.values, { ...of, matrix });
        const pair = { vector: each.keeps ? ops.keep(vector) : vector, values };
        pairs.push(pair);
        if (each.keeps) made.push(pair);
      }
      return made;
    };
    const plan = await fr.plan(compute);
    const made = await fr.run(compute);
    const [planned, ran] = [plan, fr.lastRun].map((record) => JSON.stringify(record, PLANNED));
    if (planned !== ran) throw new Error(`the plan was ${planned}, the run ${ran}`);
    for (const matrix of matrices.values()) matrix.destroy();
    for (const [i, pair] of made.entries()) await this.#compare(pair, `vector ${i}`);
    // vectors of earlier runs must be as they were
    for (const [i, pair] of this.#pairs.entries()) await this.#compare(pair, `earlier vector ${i}`);
    this.#pairs = [...this.#pairs, ...made];
  }

  async #compare({ vector, values }: Pair, name: string): Promise<void> {
    const read = numbersIn(await this.#fr.read(vector), this.#fr.numberBytes);
    if (read.length !== values.length) throw new Error(`${name} has ${read.length} elements, not ${values.length}`);
    for (const [i, got] of read.entries()) {
      if (got !== values[i])
        throw new Error(`${name}, element ${i} of ${read.length}: got ${got}, expected ${values[i]}`);
    }
  }

  /** Destroys all vectors. @throws Error if memory is left */
  end(): void {
    for (const { vector } of this.#pairs) vector.destroy();
    this.#fr.trim();
    const { used } = this.#fr.memory;
    if (used !== 0) throw new Error(`${used} bytes are left`);
  }
}

/**
 * Runs a program on the CPU, and on a device.
 *
 * @param device null: on the CPU alone
 * @returns null if all vectors are right and nothing leaked
 */
export const executeFields = async (device: GPUDevice | null, program: FieldProgram): Promise<string | null> => {
  for (const on of device === null ? [null] : [null, device]) {
    const fr = await openField(program, on);
    try {
      const execution = new Execution(fr);
      await execution.load(program);
      for (const operations of runsOf(program.operations)) await execution.run(operations);
      execution.end();
    } catch (error) {
      return `on the ${on === null ? 'CPU' : 'GPU'}: ${String(error)}`;
    } finally {
      fr.destroy();
    }
  }
  return null;
};

/** Programs that passed, with their operations and elements. */
type FieldFuzzCounts = Record<'programs' | 'operations' | 'elements', number>;

/** Runs programs, see `runPrograms`. @param onProgram told after each program that passed */
export const fuzzFields = (
  device: GPUDevice | null,
  options: { readonly seed: number; readonly seconds: number },
  onProgram: (counts: Readonly<FieldFuzzCounts>) => void,
): Promise<FoundProgram<FieldProgram> | null> => {
  const kept = device && keepPipelines(device);
  const counts: FieldFuzzCounts = { programs: 0, operations: 0, elements: 0 };
  const run = (program: FieldProgram): Promise<string | null> => executeFields(kept, program);
  return runPrograms(fieldPrograms(), options, run, ({ operations, loaded }) => {
    counts.programs++;
    counts.operations += operations.length;
    counts.elements += loaded.reduce((sum, { n }) => sum + n, 0);
    onProgram(counts);
  });
};
