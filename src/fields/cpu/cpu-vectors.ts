/** Vectors on the CPU, in memory of WebAssembly, and the execution of the steps of a run. */
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import { passesOverMemory } from '../../wasm/vectors/transform-passes.js';
import { bytesOfVector, type VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { fuseScalings } from '../program/recorder.js';
import type {
  Computation,
  Entries,
  FieldStep,
  Matrix,
  ScaledNumbers,
  Vector,
  VectorBackend,
  VectorCall,
} from '../program/vectors.js';
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

  async enterMatrix(matrix: Matrix, { words, scale, row, column }: Entries, call: VectorCall): Promise<void> {
    const sorted = sortEntries(matrix.rows, row, column, words, this.#arena.memory.kernel.wordBytes / 4);
    this.#matrices.set(matrix, await inTurns(placeMatrix(this.#arena, sorted, scale), call));
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

/** Kinds whose result may overwrite an operand of the same length. */
const inPlace: ReadonlySet<Computation['kind']> = new Set([
  ...(['add', 'subtract', 'multiply', 'multiplyAdd', 'multiplySubtract'] as const),
  ...(['scale', 'scalePowers', 'ntt', 'intt'] as const),
]);

/** Returns the products of a step. */
const productsOf = (step: FieldStep, matrices: Places['matrices'], p: bigint): number => {
  const { computation: own, operands, result } = step;
  const { length } = result;
  const first = operands[0]?.length ?? 0;
  switch (own.kind) {
    case 'ntt':
    case 'intt':
      return productsOfTransform(own, length);
    case 'multiply':
    case 'multiplyAdd':
    case 'multiplySubtract':
    case 'scale':
    case 'scalePowers':
      return length;
    case 'linearCombination':
      return operands.reduce(
        (sum, operand, k) => sum + (signOf(own.factors[k] as bigint, p) === null ? operand.length : 0),
        0,
      );
    case 'invert':
      return 3 * length;
    case 'prefixProduct':
    case 'divideByLinear':
      return 2 * length;
    case 'evaluate':
      return first;
    case 'apply':
      return matrices.get(own.matrix)?.triples ?? 0;
    default:
      return 0;
  }
};

/** Executes steps one after the other. Vectors are freed after their last use, unless kept. */
class Execution {
  readonly #arena: Arena;
  readonly #places: Places;
  readonly #steps: readonly FieldStep[];
  /** Index of the last step that uses a vector of the run. */
  readonly #lastUse = new Map<Vector, number>();
  readonly phases: Record<string, number> = {};
  /** Work so far; the CPU dispatches nothing. */
  readonly counts = { products: 0, passes: 0, dispatches: 0, submits: 0 };

  constructor(arena: Arena, places: Places, steps: readonly FieldStep[]) {
    this.#arena = arena;
    this.#places = places;
    this.#steps = fuseScalings(steps, arena.field.p);
    for (const [i, { operands, result }] of this.#steps.entries()) {
      for (const operand of operands) if (operand.state === 'recorded') this.#lastUse.set(operand, i);
      if (!this.#lastUse.has(result)) this.#lastUse.set(result, i);
    }
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
    for (const [i, step] of this.#steps.entries()) {
      const begun = performance.now();
      yield this.#compute(step, i);
      const { kind } = step.computation;
      this.phases[kind] = (this.phases[kind] ?? 0) + performance.now() - begun;
      this.counts.products += productsOf(step, this.#places.matrices, this.#arena.field.p);
      if (kind === 'ntt' || kind === 'intt') this.counts.passes += passesOverMemory(step.result.length);
      for (const vector of new Set([...step.operands, step.result])) {
        if (this.#lastUse.get(vector) === i && !vector.isKept) this.#free(vector);
      }
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
    for (const { result } of this.#steps) if (result.state === 'recorded') this.#free(result);
  }

  #at(vector: Vector): VectorAt {
    const at = this.#places.vectors.get(vector);
    if (at === undefined) throw new Error('a vector is used before it is computed');
    return at;
  }

  /** Returns the memory of a result: that of an operand which nothing else uses, or new memory. */
  #place({ computation: { kind }, operands, result }: FieldStep, index: number): VectorAt {
    const given = inPlace.has(kind)
      ? operands.find((each) => !each.isKept && each.state === 'recorded' && this.#lastUse.get(each) === index)
      : undefined;
    if (given === undefined) {
      const at = this.#arena.take(result.length);
      this.#places.vectors.set(result, at);
      return at;
    }
    const at = this.#at(given);
    this.#places.vectors.set(result, at);
    return at;
  }

  *#compute(step: FieldStep, index: number): Generator<void> {
    const { computation: own, operands, result } = step;
    const arena = this.#arena;
    const { memory, bytes } = arena;
    const from = operands.map((operand) => this.#at(operand));
    const to = this.#place(step, index);
    // an operand whose memory the result has taken is gone
    for (const [i, operand] of operands.entries()) if (from[i] === to) this.#places.vectors.delete(operand);
    const [a, length] = [from[0] as VectorAt, result.length];
    switch (own.kind) {
      case 'add':
      case 'subtract':
      case 'multiply':
      case 'multiplyAdd':
      case 'multiplySubtract':
        return yield* elementwise(arena, own.kind, to, from, length);
      case 'scale':
        return yield* scale(arena, to, a, own.factor, length);
      case 'scalePowers':
        if (to !== a) memory.copy(to, a, length);
        return yield* multiplyByPowers(arena, to, { ...own, length });
      case 'ntt':
      case 'intt':
        if (to !== a) memory.copy(to, a, length);
        return yield* transform(arena, own, to, length);
      case 'linearCombination': {
        const terms = operands.map((operand, k) => ({
          ...{ factor: own.factors[k] as bigint, at: from[k] as VectorAt, length: operand.length },
        }));
        return yield* linearCombination(arena, to, terms, length);
      }
      case 'invert':
        return yield* invertAll(arena, to, a, length);
      case 'prefixProduct':
        return yield* prefixProduct(arena, to, a, length);
      case 'evaluate':
        return yield* evaluate(arena, to, a, operands[0]?.length as number, own.x);
      case 'pad':
        memory.clear(to, length);
        return memory.copy(to + own.first * bytes, a, operands[0]?.length as number);
      case 'divideByLinear':
        return yield* divideByLinear(arena, to, a, operands[0]?.length as number, own.x);
      case 'slice':
        return memory.copy(to, a + own.first * bytes, length);
      case 'gather':
        return memory.pick(to, a, own.indices);
      case 'apply':
        return yield* multiplyMatrix(arena, to, this.#places.matrices.get(own.matrix) as PlacedMatrix, a);
    }
  }
}
