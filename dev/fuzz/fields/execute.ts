/** Runs programs of vectors on the CPU and on a GPU, and compares all bits with the oracle. */
import {
  createFieldEngine,
  type FieldEngine,
  type FieldName,
  type FieldOperations,
  type FieldVector,
  type SparseMatrix,
} from '../../../src/fields.js';
import { FieldValues } from '../../oracle/field-values.js';
import { numbersIn } from '../../oracle/transforms.js';
import { type FoundProgram, keepPipelines, runPrograms } from '../run-programs.js';
import { interpret, type Machine, matrixOf, numbersOf } from './interpret.js';
import { type FieldProgram, fieldPrograms, type Operation } from './program.js';

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

const openField = ({ field, arithmetic, verify }: FieldProgram, device: GPUDevice | null): Promise<FieldEngine> =>
  createFieldEngine({
    field: /^\d/.test(field) ? { p: BigInt(field) } : (field as FieldName),
    ...(device === null ? { arithmetic } : { device, verify }),
  });

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
export type FieldFuzzCounts = Record<'programs' | 'operations' | 'elements', number>;

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
