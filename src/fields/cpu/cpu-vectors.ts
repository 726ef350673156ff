/** Vectors on the CPU, in memory of WebAssembly, and the execution of the steps of a run. */
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import { passesOverMemory } from '../../wasm/vectors/transform-passes.js';
import { bytesOfVector, type VectorAt } from '../../wasm/vectors/vector-kernel.js';
import {
  type Elementwise,
  type FieldStep,
  type Kind,
  operations,
  type StepParameters,
  type Transform,
} from '../program/operations.js';
import {
  type Entries,
  type LiveStep,
  liveSteps,
  type ScaledNumbers,
  type VectorBackend,
  type VectorCall,
} from '../program/vector-backend.js';
import type { Matrix, Vector } from '../program/vectors.js';
import type { Arena } from './arena.js';
import { elementwise, linearCombination, multiplyByPowers, scale, signOf } from './combine.js';
import { multiplyMatrix, type PlacedMatrix, placeMatrix, releaseMatrix, sortEntries } from './rows.js';
import { divideByLinear, evaluate, invertAll, prefixProduct } from './scan.js';
import { productsOfTransform, transform } from './transform.js';

/** Runs `work` in turns of the event loop. */
const inTurns = async <Result>(
  work: Generator<void, Result>,
  { check }: VectorCall,
  slice = new TimeSlice(check),
): Promise<Result> => {
  try {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      if (slice.isOver) await slice.yield();
    }
  } finally {
    // lets the steps free what they hold
    work.return(undefined as Result);
  }
};

export class CpuVectors implements VectorBackend {
  readonly #arena: Arena;
  readonly #vectors = new Map<Vector, number>();
  readonly #matrices = new Map<Matrix, PlacedMatrix>();

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  get memory(): { readonly used: number; readonly peak: number } {
    return { used: this.#arena.used, peak: this.#arena.peak };
  }

  has(vector: Vector): boolean {
    return this.#vectors.has(vector);
  }

  async enter(vector: Vector, { words, scale }: ScaledNumbers, call: VectorCall): Promise<void> {
    const at = this.#arena.take(vector.length);
    try {
      await inTurns(this.#arena.memory.enter(at, words, scale), call);
    } catch (error) {
      this.#arena.release(at, vector.length);
      throw error;
    }
    words.fill(0);
    this.#vectors.set(vector, at);
  }

  async enterMatrix(matrix: Matrix, entries: Entries, call: VectorCall): Promise<void> {
    const sorted = await inTurns(sortEntries(entries), call);
    this.#matrices.set(matrix, await inTurns(placeMatrix(this.#arena, sorted, entries.scale), call));
  }

  async execute(steps: readonly FieldStep[], call: VectorCall): Promise<FieldRunRecord> {
    const begun = performance.now();
    const execution = new Execution(this.#arena, { vectors: this.#vectors, matrices: this.#matrices }, steps);
    const slice = new TimeSlice(call.check);
    try {
      for (const step of execution.steps(call.onProgress)) {
        await call.pause();
        await inTurns(step, call, slice);
      }
    } catch (error) {
      execution.abandon();
      throw error;
    }
    const { counts, phases } = execution;
    const { arithmetic } = this.#arena.memory.kernel;
    const ms = performance.now() - begun;
    return { on: 'cpu', arithmetic, operations: steps.length, ...counts, retried: null, ms, phases, verified: true };
  }

  async plan(steps: readonly FieldStep[], call: VectorCall): Promise<FieldPlan> {
    const planned = this.#arena.planned();
    const { used } = planned;
    const vectors = new Map(this.#vectors);
    const execution = new Execution(planned, { vectors, matrices: this.#matrices }, steps);
    const slice = new TimeSlice(call.check);
    for (const step of execution.steps(undefined)) await inTurns(step, call, slice);
    const kept = steps.filter(({ result }) => result.isKept);
    const keptBytes = kept.reduce((sum, { result }) => sum + bytesOfVector(planned.memory.kernel, result.length), 0);
    return { on: 'cpu', operations: steps.length, ...execution.counts, bytes: planned.peak - used, keptBytes };
  }

  async leave(vector: Vector, { words, scale }: ScaledNumbers, call: VectorCall): Promise<void> {
    await inTurns(this.#arena.memory.leave(words, this.#vectors.get(vector) as number, scale), call);
  }

  onDevice(): null {
    return null;
  }

  get hasPrepared(): boolean {
    return true;
  }

  async prepareScalars(): Promise<void> {}

  release(handle: Vector | Matrix): void {
    const at = this.#vectors.get(handle as Vector);
    if (at !== undefined) this.#arena.release(at, (handle as Vector).length);
    this.#vectors.delete(handle as Vector);
    const placed = this.#matrices.get(handle as Matrix);
    if (placed !== undefined) releaseMatrix(this.#arena, placed);
    this.#matrices.delete(handle as Matrix);
  }

  trim(): void {
    this.#arena.tables.clear();
  }

  destroy(): void {
    for (const handle of [...this.#vectors.keys(), ...this.#matrices.keys()]) this.release(handle);
    this.trim();
  }
}

/** Places of vectors and matrices in memory. */
interface Places {
  readonly vectors: Map<Vector, VectorAt>;
  readonly matrices: ReadonlyMap<Matrix, PlacedMatrix>;
}

/** Executes steps one after the other. Vectors are freed after their last use, unless kept. */
class Execution {
  readonly #arena: Arena;
  readonly #places: Places;
  readonly #steps: readonly LiveStep[];
  readonly phases: Record<string, number> = {};
  /** Work so far; the CPU dispatches nothing. */
  readonly counts = { products: 0, passes: 0, dispatches: 0, submits: 0 };

  constructor(arena: Arena, places: Places, steps: readonly FieldStep[]) {
    this.#arena = arena;
    this.#places = places;
    this.#steps = liveSteps(steps, arena.field.p, false);
  }

  /**
   * Yields the computation of each step, which yields between calls of WebAssembly. Between two
   * steps nothing refers to a table, so that other runs may make and free some.
   *
   * @param onProgress called before the first step, and after each
   */
  *steps(onProgress: VectorCall['onProgress']): Generator<Generator<void>> {
    const report = (done: number): void => onProgress?.({ phase: 'vectors', done, total: this.#steps.length });
    report(0);
    for (const [i, live] of this.#steps.entries()) {
      const begun = performance.now();
      yield this.#compute(live);
      const { kind } = live.step;
      this.phases[kind] = (this.phases[kind] ?? 0) + performance.now() - begun;
      for (const vector of live.ending) if (!vector.isKept) this.#free(vector);
      report(i + 1);
    }
  }

  #free(vector: Vector): void {
    const at = this.#places.vectors.get(vector);
    if (at === undefined) return;
    this.#places.vectors.delete(vector);
    this.#arena.release(at, vector.length);
  }

  /** Frees what a run that did not end has computed. */
  abandon(): void {
    for (const { step } of this.#steps) if (step.result.state === 'recorded') this.#free(step.result);
  }

  #at(vector: Vector): VectorAt {
    const at = this.#places.vectors.get(vector);
    if (at === undefined) throw new Error('a vector is used before it is computed');
    return at;
  }

  *#compute({ step: { kind, parameters, operands, result }, ending }: LiveStep): Generator<void> {
    const { vectors, matrices } = this.#places;
    const from = operands.map((operand) => this.#at(operand));
    // the memory of an operand which nothing else uses, or new memory
    const over =
      operations[kind].result === 'inPlace'
        ? operands.find((operand) => !operand.isKept && ending.includes(operand))
        : undefined;
    const to = over === undefined ? this.#arena.take(result.length) : this.#at(over);
    if (over !== undefined) vectors.delete(over);
    vectors.set(result, to);
    const lengths = operands.map(({ length }) => length);
    const { products, passes } = yield* computeStep(kind, {
      arena: this.#arena,
      matrices,
      parameters,
      from,
      a: from[0] as VectorAt,
      lengths,
      to,
      length: result.length,
    });
    this.counts.products += products;
    this.counts.passes += passes;
  }
}

/** A step whose operands and result have memory. */
interface PlacedStep<Own> {
  readonly arena: Arena;
  readonly matrices: Places['matrices'];
  readonly parameters: Own;
  /** The operands, and the first of them. */
  readonly from: readonly VectorAt[];
  readonly a: VectorAt;
  /** Elements of each operand. */
  readonly lengths: readonly number[];
  /** The result. */
  readonly to: VectorAt;
  readonly length: number;
}

/** How the CPU computes an operation. */
interface CpuOperation<Own> {
  compute(step: PlacedStep<Own>): Generator<void> | void;
  /** Products of elements. */
  products(step: PlacedStep<Own>): number;
  /** Passes over memory of a transform. */
  passes?(step: PlacedStep<Own>): number;
}

const ofElements = (kind: Elementwise, products: 0 | 1): CpuOperation<object> => ({
  compute: ({ arena, to, from, length }) => elementwise(arena, kind, { to, operands: from, length }),
  products: ({ length }) => products * length,
});

const ofTransform = (kind: 'ntt' | 'intt'): CpuOperation<Transform> => ({
  *compute({ arena, parameters, to, a, length }) {
    if (to !== a) arena.memory.copy(to, a, length);
    yield* transform(arena, kind, parameters, { at: to, length });
  },
  products: ({ parameters, length }) => productsOfTransform(parameters, length),
  passes: ({ length }) => passesOverMemory(length),
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
      if (to !== a) arena.memory.copy(to, a, length);
      yield* multiplyByPowers(arena, to, { ...parameters, length });
    },
    products: ({ length }) => length,
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
    products: ({ arena, parameters: { factors }, lengths }) =>
      lengths.reduce((sum, length, k) => sum + (signOf(factors[k] as bigint, arena.field.p) === null ? length : 0), 0),
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
    compute: ({ arena: { memory, bytes }, parameters: { first }, to, a, length }) =>
      memory.copy(to, a + first * bytes, length),
    products: none,
  },
  pad: {
    compute({ arena: { memory, bytes }, parameters: { first }, to, a, lengths, length }) {
      memory.clear(to, length);
      memory.copy(to + first * bytes, a, lengths[0] as number);
    },
    products: none,
  },
  gather: {
    compute: ({ arena, parameters: { indices }, to, a }) => arena.memory.pick(to, a, indices),
    products: none,
  },
  apply: {
    compute: ({ arena, matrices, parameters: { matrix }, to, a }) =>
      multiplyMatrix(arena, matrices.get(matrix) as PlacedMatrix, { to, a }),
    products: ({ matrices, parameters: { matrix } }) => matrices.get(matrix)?.triples ?? 0,
  },
};

/** Computes a step. @returns its products and passes */
function* computeStep<Of extends Kind>(
  kind: Of,
  step: PlacedStep<StepParameters[Of]>,
): Generator<void, { readonly products: number; readonly passes: number }> {
  const operation: CpuOperation<StepParameters[Of]> = cpuOperations[kind];
  const work = operation.compute(step);
  if (work !== undefined) yield* work;
  return { products: operation.products(step), passes: operation.passes?.(step) ?? 0 };
}
