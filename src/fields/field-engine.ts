/** An engine for vectors of field elements, on the CPU. */
import type { FieldOperations } from '../api/field-operations.js';
import type { FieldVector, SparseMatrix } from '../api/field-vectors.js';
import type { FieldBytesOptions, FieldCallOptions, FieldEngine, FieldRunRecord, MatrixEntries } from '../api/fields.js';
import type { BytesLike, OwnBytes } from '../api/values.js';
import { assertNotAborted, badArgument, kindOf, MsmError } from '../errors.js';
import { ownOptions } from '../own-options.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import type { Arena } from './cpu/arena.js';
import { Execution } from './cpu/execute.js';
import { type PlacedMatrix, placeMatrix, releaseMatrix, sortEntries } from './cpu/matrix-product.js';
import { copyNumbers, encodingOf, reverseNumbers, scaleOf } from './program/numbers.js';
import type { OpenField } from './program/open-field.js';
import { copyIndices, Recorder, wholeNumber } from './program/recorder.js';
import { Matrix, Vector, type VectorOwner, vectorOf } from './program/vector.js';

/** Most rows and columns of a matrix. */
const MOST_ROWS = 2 ** 27;

const destroyedError = (): MsmError => new MsmError('destroyed', 'the field engine was destroyed; create a new one');

const signalOf = (options: FieldCallOptions): AbortSignal | undefined => ownOptions(options).signal;

export class CpuFieldEngine implements FieldEngine, VectorOwner {
  readonly #field: OpenField;
  readonly #arena: Arena;
  readonly #vectors = new Map<Vector, number>();
  readonly #matrices = new Map<Matrix, PlacedMatrix>();
  /** Handles that were destroyed while a run could use them. */
  readonly #late: (Vector | Matrix)[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  #isBusy = false;
  #isDestroyed = false;
  #lastRun: FieldRunRecord | null = null;

  constructor(field: OpenField, arena: Arena) {
    this.#field = field;
    this.#arena = arena;
  }

  get p(): bigint {
    return this.#field.p;
  }

  get numberBytes(): number {
    return this.#arena.memory.kernel.wordBytes;
  }

  get longestTransform(): number {
    return 2 ** this.#field.twoAdicity;
  }

  get lastRun(): FieldRunRecord | null {
    return this.#lastRun;
  }

  get memory(): { readonly used: number; readonly peak: number } {
    return { used: this.#arena.used, peak: this.#arena.peak };
  }

  /** Runs `work` alone, in turns of the event loop. */
  #exclusively<Result>(signal: AbortSignal | undefined, work: () => Generator<void, Result>): Promise<Result> {
    const begin = async (): Promise<Result> => {
      const check = (): void => {
        assertNotAborted(signal);
        if (this.#isDestroyed) throw destroyedError();
      };
      check();
      this.#isBusy = true;
      const steps = work();
      try {
        const slice = new TimeSlice(check);
        for (;;) {
          const { done, value } = steps.next();
          if (done) return value;
          if (slice.isOver) await slice.yield();
        }
      } finally {
        // lets the steps free what they hold
        steps.return(undefined as Result);
        this.#isBusy = false;
        this.#releaseLate();
      }
    };
    const result = this.#turn.then(begin, begin);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  release(handle: Vector | Matrix): void {
    if (this.#isBusy) this.#late.push(handle);
    else this.#releaseNow(handle);
  }

  #releaseLate(): void {
    for (const handle of this.#late.splice(0)) this.#releaseNow(handle);
    if (this.#isDestroyed) this.#releaseAll();
  }

  #releaseNow(handle: Vector | Matrix): void {
    if (handle instanceof Vector) {
      const at = this.#vectors.get(handle);
      if (at !== undefined) this.#arena.release(at, handle.length);
      this.#vectors.delete(handle);
    } else {
      const placed = this.#matrices.get(handle);
      if (placed !== undefined) releaseMatrix(this.#arena, placed);
      this.#matrices.delete(handle);
    }
  }

  #assertUsable(): void {
    if (this.#isDestroyed) throw destroyedError();
  }

  async load(numbers: BytesLike | readonly bigint[], options: FieldBytesOptions = {}): Promise<FieldVector> {
    this.#assertUsable();
    const { encoding, signal } = ownOptions(options);
    const own = encodingOf(encoding);
    const format = { p: this.p, wordBytes: this.numberBytes };
    const words = copyNumbers('numbers', numbers, own, format);
    if (words.length === 0) throw badArgument('numbers: a vector must have at least one element');
    const arena = this.#arena;
    const length = (4 * words.length) / this.numberBytes;
    const vectors = this.#vectors;
    const vector = new Vector(this, length, 'resident');
    await this.#exclusively(signal, function* () {
      const at = arena.take(length);
      vectors.set(vector, at);
      let isDone = false;
      try {
        yield* arena.memory.enter(at, words, scaleOf(own, format));
        isDone = true;
      } finally {
        words.fill(0);
        if (!isDone) {
          vectors.delete(vector);
          arena.release(at, length);
        }
      }
    });
    return vector;
  }

  async loadMatrix(entries: MatrixEntries, options: FieldBytesOptions = {}): Promise<SparseMatrix> {
    this.#assertUsable();
    const { encoding, signal } = ownOptions(options);
    const { rows, columns, row, column, values } = ownOptions(entries, 'entries') as MatrixEntries;
    wholeNumber('entries.rows', rows, 1, MOST_ROWS);
    wholeNumber('entries.columns', columns, 1, MOST_ROWS);
    const own = encodingOf(encoding);
    const format = { p: this.p, wordBytes: this.numberBytes };
    const [ownRow, ownColumn] = [copyIndices('entries.row', row, rows), copyIndices('entries.column', column, columns)];
    const words = copyNumbers('entries.values', values, own, format);
    const count = (4 * words.length) / format.wordBytes;
    if (ownRow.length !== count || ownColumn.length !== count) {
      throw badArgument(
        `entries: row, column and values must have the same length, got ${ownRow.length}, ${ownColumn.length}, ${count}`,
      );
    }
    const sorted = sortEntries(rows, ownRow, ownColumn, words, format.wordBytes / 4);
    const placed = await this.#exclusively(signal, () => placeMatrix(this.#arena, sorted, scaleOf(own, format)));
    const matrix = new Matrix(this, { rows, columns, entries: count });
    this.#matrices.set(matrix, placed);
    return matrix;
  }

  async run<Result>(record: (operations: FieldOperations) => Result, options: FieldCallOptions = {}): Promise<Result> {
    this.#assertUsable();
    const signal = signalOf(options);
    if (typeof record !== 'function') throw badArgument(`record must be a function, got ${kindOf(record)}`);
    const recorder = new Recorder(this, this.#field);
    let result: Result;
    try {
      result = record(recorder);
    } finally {
      recorder.end();
    }
    const { steps } = recorder;
    try {
      await this.#exclusively(signal, () => this.#execute(recorder));
    } catch (error) {
      for (const { result: vector } of steps) vector.state = 'destroyed';
      throw error;
    }
    return result;
  }

  *#execute({ steps }: Recorder): Generator<void> {
    const begun = performance.now();
    for (const { operands, computation } of steps) {
      for (const operand of operands) if (operand.state !== 'recorded') vectorOf(this, 'an operand', operand);
      if (computation.kind === 'apply' && computation.matrix.isDestroyed) {
        throw new MsmError('destroyed', 'apply: matrix was destroyed before the run began');
      }
    }
    const execution = new Execution(this.#arena, { vectors: this.#vectors, matrices: this.#matrices }, steps);
    let isDone = false;
    try {
      yield* execution.run();
      isDone = true;
    } finally {
      if (!isDone) execution.abandon();
    }
    for (const { result } of steps) result.state = result.isKept ? 'resident' : 'destroyed';
    this.#lastRun = {
      ...{ on: 'cpu', arithmetic: this.#arena.memory.kernel.arithmetic, operations: steps.length },
      ...{ products: execution.products, ms: performance.now() - begun, phases: execution.phases },
    };
  }

  async read(vector: FieldVector, options: FieldBytesOptions = {}): Promise<OwnBytes> {
    this.#assertUsable();
    const { encoding, signal } = ownOptions(options);
    const own = encodingOf(encoding);
    const source = vectorOf(this, 'vector', vector);
    const { numberBytes } = this;
    const words = new Uint32Array((source.length * numberBytes) / 4);
    const scale = scaleOf(own, { p: this.p, wordBytes: numberBytes });
    await this.#exclusively(signal, () => {
      const at = this.#vectors.get(vectorOf(this, 'vector', source));
      if (at === undefined) throw badArgument('vector is recorded in a run that has not ended; await it first');
      return this.#arena.memory.leave(words, at, scale);
    });
    const bytes = new Uint8Array(words.buffer);
    if (own === 'be') reverseNumbers(bytes, numberBytes);
    return bytes;
  }

  trim(): void {
    if (!this.#isBusy) this.#arena.tables.clear();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    if (!this.#isBusy) this.#releaseAll();
  }

  #releaseAll(): void {
    for (const vector of [...this.#vectors.keys()]) {
      this.#releaseNow(vector);
      vector.state = 'destroyed';
    }
    for (const matrix of [...this.#matrices.keys()]) {
      this.#releaseNow(matrix);
      matrix.isDestroyed = true;
    }
    this.#arena.tables.clear();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
