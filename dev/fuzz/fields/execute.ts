/** Runs programs of vectors on the CPU and on a GPU, and compares all bits with the oracle. */
import fc from 'fast-check';
import {
  createFieldEngine,
  type FieldEngine,
  type FieldName,
  type FieldOperations,
  type FieldVector,
  type SparseMatrix,
} from '../../../src/fields.js';
import { FieldValues } from '../../oracle/field-values.js';
import { keepPipelines } from '../keep-pipelines.js';
import { interpret, type Machine, matrixOf, numbersOf } from './interpret.js';
import { type FieldProgram, fieldPrograms, type Operation } from './program.js';

type Values = readonly bigint[];

/** Vectors that operands are counted from. */
const LAST = 8;

/** Operations of each run. */
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
    const compute = (ops: FieldOperations, matrixFor: (of: Operation) => SparseMatrix | null): Pair[] => {
      const pairs = [...this.#pairs];
      const made: Pair[] = [];
      for (const each of operations) {
        const last = pairs.slice(-LAST).reverse();
        const vector = interpret(
          each,
          ops as Machine<FieldVector, SparseMatrix>,
          last.map((pair) => pair.vector),
          {
            ...{ p: fr.p, twoAdicity: this.#twoAdicity },
            matrix: matrixFor(each),
          },
        );
        const matrix = each.kind === 'apply' ? matrixOf(each, fr.p) : null;
        const values = interpret(
          each,
          this.#oracle as Machine<Values, typeof matrix>,
          last.map((pair) => pair.values),
          {
            ...{ p: fr.p, twoAdicity: this.#twoAdicity },
            matrix,
          },
        );
        const pair = { vector: each.keeps ? ops.keep(vector) : vector, values };
        pairs.push(pair);
        if (each.keeps) made.push(pair);
      }
      return made;
    };
    const matrixFor = (of: Operation): SparseMatrix | null => matrices.get(of) ?? null;
    const plan = await fr.plan((ops) => compute(ops, matrixFor));
    const made = await fr.run((ops) => compute(ops, matrixFor));
    const {
      on,
      operations: count,
      products,
      passes,
      dispatches,
      submits,
    } = fr.lastRun as NonNullable<typeof fr.lastRun>;
    const ran = { on, operations: count, products, passes, dispatches, submits };
    const { bytes: _, keptBytes: __, ...planned } = plan;
    if (JSON.stringify(planned, Object.keys(ran)) !== JSON.stringify(ran, Object.keys(ran))) {
      throw new Error(`the plan was ${JSON.stringify(planned)}, the run ${JSON.stringify(ran)}`);
    }
    for (const matrix of matrices.values()) matrix.destroy();
    for (const [i, pair] of made.entries()) await this.#compare(pair, `vector ${i}`);
    // vectors of earlier runs must be as they were
    for (const [i, pair] of this.#pairs.entries()) await this.#compare(pair, `earlier vector ${i}`);
    this.#pairs = [...this.#pairs, ...made];
  }

  async #compare({ vector, values }: Pair, name: string): Promise<void> {
    const { numberBytes } = this.#fr;
    const bytes = await this.#fr.read(vector);
    if (vector.length !== values.length) throw new Error(`${name} has ${vector.length} elements, not ${values.length}`);
    for (const [i, expected] of values.entries()) {
      let got = 0n;
      for (let k = numberBytes - 1; k >= 0; k--) got = (got << 8n) + BigInt(bytes[i * numberBytes + k] as number);
      if (got !== expected)
        throw new Error(`${name}, element ${i} of ${values.length}: got ${got}, expected ${expected}`);
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

/** Programs of one seed of fast-check; the next ones have the next seed. */
const BATCH = 50;

/** As `fuzz` of programs of sums. */
export const fuzzFields = async (
  device: GPUDevice | null,
  { seed, seconds }: { readonly seed: number; readonly seconds: number },
  onProgram: (counts: Readonly<FieldFuzzCounts>) => void,
): Promise<{ readonly program: FieldProgram; readonly error: string } | null> => {
  const kept = device && keepPipelines(device);
  const counts: FieldFuzzCounts = { programs: 0, operations: 0, elements: 0 };
  const end = performance.now() + 1000 * seconds;
  let isShrinking = false;
  const property = fc.asyncProperty(fieldPrograms(), async (program) => {
    if (!isShrinking && performance.now() > end) return;
    const failure = await executeFields(kept, program);
    isShrinking ||= failure !== null;
    if (failure !== null) throw new Error(failure);
    counts.programs++;
    counts.operations += program.operations.length;
    counts.elements += program.loaded.reduce((sum, { n }) => sum + n, 0);
    if (!isShrinking) onProgram(counts);
  });
  for (let batch = 0; performance.now() < end; batch++) {
    const { counterexample, errorInstance } = await fc.check(property, {
      seed: (seed * 100_003 + batch) | 0,
      numRuns: BATCH,
    });
    if (counterexample !== null) return { program: counterexample[0], error: String(errorInstance) };
  }
  return null;
};
