/** Vectors on the CPU, in memory of WebAssembly. */
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import { bytesOfVector } from '../../wasm/vectors/vector-kernel.js';
import type { FieldStep } from '../program/steps.js';
import type { Matrix, Vector } from '../program/vector.js';
import type { Entries, ScaledNumbers, VectorBackend, VectorCall } from '../program/vector-backend.js';
import type { Arena } from './arena.js';
import { Execution } from './execute.js';
import { type PlacedMatrix, placeMatrix, releaseMatrix, sortEntries } from './matrix-product.js';

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
