/** Vectors on the CPU, in memory of WebAssembly, and the execution of the steps of a run. */
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { MsmError } from '../../errors.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import { ANY_SIZE, type Pause } from '../../scheduling/turn-queue.js';
import { passesOverMemory } from '../../wasm/vectors/transform-passes.js';
import { bytesOfVector, type VectorAt, type VectorMemory } from '../../wasm/vectors/vector-kernel.js';
import type { Phase, Phases, ProgramHost } from '../../wasm/vectors/vector-program.js';
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
import { clearVector, copyVector, elementwise, linearCombination, multiplyByPowers, scale, signOf } from './combine.js';
import { multiplyMatrix, type PlacedMatrix, placeMatrix, releaseMatrix, sortEntries } from './rows.js';
import { divideByLinear, evaluate, invertAll, prefixProduct } from './scan.js';
import { productsOfTransform, transform } from './transform.js';
import { LostWorker, type VectorThreads } from './vector-threads.js';

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

/** Time of a product and of a sum or copy of elements, in µs, from which the number of workers follows. */
const [PRODUCT_US, ELEMENT_US] = [0.03, 0.01];

/** Work that is handed to threads at once ends after about so many ms, and keeps so much freed memory. */
const [MS_OF_A_BATCH, BYTES_OF_A_BATCH] = [100, 2 ** 26];

/** Outcome of a run. */
interface Outcome {
  /** Reason why this thread executed it again, alone; null: it did not. */
  readonly retried: string | null;
  /** Workers that took part. */
  readonly workers: number;
}

export class CpuVectors implements VectorBackend {
  readonly #arena: Arena;
  readonly #memory: VectorMemory;
  readonly #threads: VectorThreads | null;
  readonly #vectors = new Map<Vector, number>();
  readonly #matrices = new Map<Matrix, PlacedMatrix>();

  /** @param threads that compute beside this one; null: none, or the memory is not shared */
  constructor(arena: Arena, memory: VectorMemory, threads: VectorThreads | null) {
    this.#arena = arena;
    this.#memory = memory;
    this.#threads = threads;
  }

  get memory(): { readonly used: number; readonly peak: number } {
    return { used: this.#arena.used, peak: this.#arena.peak };
  }

  get workers(): number {
    return this.#threads?.most ?? 0;
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
    const most = this.#threads?.workersFor(execution.estimatedMs) ?? 0;
    let outcome: Outcome;
    try {
      outcome =
        this.#threads === null || most === 0
          ? await this.#alone(execution, call)
          : await this.#threads.inTurn(call.ticket, (isFree, pause) =>
              isFree ? this.#together(execution, most, pause, call) : this.#alone(execution, call),
            );
    } catch (error) {
      execution.abandon();
      throw error;
    }
    const { counts, phases } = execution;
    const { arithmetic } = this.#arena.memory.kernel;
    const ms = performance.now() - begun;
    return { on: 'cpu', arithmetic, operations: steps.length, ...counts, ...outcome, ms, phases, verified: true };
  }

  /** Executes on this thread. */
  async #alone(execution: Execution, call: VectorCall): Promise<Outcome> {
    const slice = new TimeSlice(call.check);
    execution.begin(call.onProgress);
    for (const step of execution.steps()) {
      await call.pause();
      const begun = performance.now();
      try {
        for (const phase of step.phases) {
          if ('alone' in phase) phase.alone();
          for (const chunk of 'chunks' in phase ? phase.chunks : []) {
            for (const each of chunk) {
              this.#memory.run(each);
              if (slice.isOver) await slice.yield();
            }
          }
        }
      } finally {
        // lets the step free what it holds
        step.phases.return();
      }
      execution.end(step, performance.now() - begun);
    }
    return { retried: null, workers: 0 };
  }

  /**
   * Executes with workers, in batches: the phases of some steps are recorded, and then computed.
   * After the loss of a worker the vectors move to memory where it cannot write, and this thread
   * executes all steps again; vectors from before the run are as they were.
   *
   */
  async #together(execution: Execution, workers: number, pause: Pause, call: VectorCall): Promise<Outcome> {
    const threads = this.#threads as VectorThreads;
    const arena = this.#arena;
    const participants = new Set<number>();
    arena.threads = 1 + workers;
    try {
      execution.begin(call.onProgress);
      let batch = new Batch();
      const compute = async (): Promise<void> => {
        if (batch.phases.length > 0) {
          const took = await threads.compute(this.#memory, batch.phases, workers, batch.host(execution, call));
          for (const worker of took) participants.add(worker);
        }
        this.#memory.endBatch();
        batch = new Batch();
      };
      for (const step of execution.steps()) {
        if (batch.isEmpty) {
          await call.pause();
          await pause(ANY_SIZE);
          this.#memory.beginBatch();
        }
        batch.add(step);
        if (batch.ms > MS_OF_A_BATCH || this.#memory.lateBytes > BYTES_OF_A_BATCH) await compute();
      }
      await compute();
      return { retried: null, workers: participants.size };
    } catch (error) {
      // a table may be half written
      arena.tables.clear();
      this.#memory.endBatch();
      const isLost = error instanceof LostWorker;
      // one thread frees each vector after its last use, and may have room
      const lacksRoom = error instanceof MsmError && error.code === 'out-of-memory';
      if (!isLost && !lacksRoom) throw error;
      arena.threads = 1;
      if (isLost) await this.#memory.move();
      execution.abandon();
      return { ...(await this.#alone(execution.again(), call)), retried: isLost ? error.message : null };
    } finally {
      arena.threads = 1;
    }
  }

  async plan(steps: readonly FieldStep[], call: VectorCall): Promise<FieldPlan> {
    const planned = this.#arena.planned();
    const { used } = planned;
    const vectors = new Map(this.#vectors);
    const execution = new Execution(planned, { vectors, matrices: this.#matrices }, steps);
    const slice = new TimeSlice(call.check);
    for (const step of execution.steps()) {
      for (const _ of step.phases) if (slice.isOver) await slice.yield();
      execution.end(step, 0);
    }
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
    this.#threads?.forget(this.#memory);
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
  #onProgress: VectorCall['onProgress'];
  /** Work so far; the CPU dispatches nothing. */
  readonly counts = { products: 0, passes: 0, dispatches: 0, submits: 0 };

  constructor(arena: Arena, places: Places, steps: readonly FieldStep[]) {
    this.#arena = arena;
    this.#places = places;
    this.#steps = liveSteps(steps, arena.field.p, false);
  }

  /** Estimated time on one thread, in ms. */
  get estimatedMs(): number {
    return this.#steps.reduce((sum, { step }) => sum + this.#msOf(step), 0);
  }

  #msOf(step: FieldStep): number {
    return millisecondsOf(step, this.#places.matrices, this.#arena.field.p);
  }

  begin(onProgress: VectorCall['onProgress']): void {
    this.#onProgress = onProgress;
    this.#report(0);
  }

  #report(done: number): void {
    this.#onProgress?.({ phase: 'vectors', done, total: this.#steps.length });
  }

  /**
   * Yields each step with its phases. The vectors that end with a step are freed when the next one
   * is asked for. Between two steps nothing refers to a table, so that other runs may make and free
   * some.
   */
  *steps(): Generator<RunningStep> {
    for (const [i, live] of this.#steps.entries()) {
      yield {
        index: i,
        kind: live.step.kind,
        ms: this.#msOf(live.step),
        phases: this.#compute(live),
      };
      for (const vector of live.ending) if (!vector.isKept) this.#free(vector);
    }
  }

  /** Notes the end of a step. */
  end({ index, kind }: Pick<RunningStep, 'index' | 'kind'>, ms: number): void {
    this.phases[kind] = (this.phases[kind] ?? 0) + ms;
    this.#report(index + 1);
  }

  /** Returns the same execution from the beginning. */
  again(): Execution {
    for (const key of Object.keys(this.phases)) delete this.phases[key];
    Object.assign(this.counts, { products: 0, passes: 0 });
    return this;
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

  *#compute({ step: { kind, parameters, operands, result }, ending }: LiveStep): Phases {
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
      p: this.#arena.field.p,
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

/** A step that is being computed. */
interface RunningStep {
  readonly index: number;
  readonly kind: Kind;
  /** Estimated time on one thread. */
  readonly ms: number;
  readonly phases: Phases;
}

/** Returns the estimated time of a step on one thread, in ms. */
const millisecondsOf = (
  { kind, parameters, operands, result: { length } }: FieldStep,
  matrices: Places['matrices'],
  p: bigint,
): number => {
  const lengths = operands.map((operand) => operand.length);
  const products = productsOf(kind, { p, matrices, parameters, lengths, length } as StepSize<StepParameters[Kind]>);
  return (products * PRODUCT_US + Math.max(length, ...lengths) * ELEMENT_US) / 1000;
};

/** Recorded steps that threads compute together. */
class Batch {
  readonly phases: Phase[] = [];
  readonly #steps: { readonly step: RunningStep; readonly end: number }[] = [];
  ms = 0;

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  add(step: RunningStep): void {
    this.phases.push(...step.phases);
    this.#steps.push({ step, end: this.phases.length });
    this.ms += step.ms;
  }

  /** Returns what the engine's thread does between chunks: it notes the ends of steps. */
  host(execution: Execution, { check }: VectorCall): Pick<ProgramHost, 'between' | 'onPhase'> {
    const slice = new TimeSlice(check);
    let next = 0;
    let since = performance.now();
    return {
      between: () => (slice.isOver ? slice.yield() : undefined),
      onPhase: (ended) => {
        for (let each = this.#steps[next]; each !== undefined && each.end <= ended + 1; each = this.#steps[++next]) {
          const now = performance.now();
          execution.end(each.step, now - since);
          since = now;
        }
      },
    };
  }
}

/** The sizes of a step. */
interface StepSize<Parameters> {
  /** The prime. */
  readonly p: bigint;
  readonly matrices: Places['matrices'];
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

/** Computes a step. @returns its products and passes */
function* computeStep<Of extends Kind>(
  kind: Of,
  step: PlacedStep<StepParameters[Of]>,
): Generator<Phase, { readonly products: number; readonly passes: number }> {
  const operation: CpuOperation<StepParameters[Of]> = cpuOperations[kind];
  yield* operation.compute(step);
  return { products: operation.products(step), passes: operation.passes?.(step) ?? 0 };
}
