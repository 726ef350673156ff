/** Engines for vectors of field elements: `createFieldEngine`, and the engine that it returns. */
import type {
  FieldBytesOptions,
  FieldCallOptions,
  FieldEncoding,
  FieldEngine,
  FieldOperations,
  FieldPlan,
  FieldRunOptions,
  FieldRunRecord,
  FieldVector,
  MatrixEntries,
  SparseMatrix,
} from '../api/fields.js';
import type { BytesLike, OwnBytes } from '../api/values.js';
import { progressRow, signalRow, turnRows } from '../engine/options.js';
import { assertNotAborted, badArgument, fromCaller, kindOf, MsmError, notLoaded } from '../errors.js';
import { cpuThreads, inspect, printed } from '../handle.js';
import type { FieldScalars } from '../msm/inputs/scalars.js';
import { bare, type OptionTable, readOptions } from '../option-table.js';
import { type Ticket, ticketOf } from '../scheduling/edf.js';
import { inTimeSlices, TimeSlice } from '../scheduling/time-slice.js';
import { ANY_SIZE, type Pause, TurnQueue } from '../scheduling/turn-queue.js';
import { wasmArithmetics } from '../wasm/points/kernel.js';
import { Arena } from './cpu/arena.js';
import { CpuVectors } from './cpu/cpu-vectors.js';
import { noWebAssembly, openMemory } from './cpu/open-memory.js';
import { type Lent, VectorThreads } from './cpu/vector-threads.js';
import { type PackedEntries, packEntries } from './program/entries.js';
import { copyNumbers, type NumberFormat, resized, reverseNumbers, scaleOf } from './program/numbers.js';
import { type FieldEngineOptions, numberBytesOf, type OpenField, openField } from './program/open-field.js';
import { copyIndices, type FieldStep, recordSteps } from './program/operations.js';
import type { VectorBackend, VectorCall } from './program/vector-backend.js';
import { Matrix, Vector, type VectorOwner, vectorOf } from './program/vectors.js';

/** `createFieldEngine`. */
const fieldEngineOptions = {
  of: 'createFieldEngine',
  rows: {
    field: { kind: 'any', default: 'bn254-fr' },
    backend: { kind: 'choice', range: ['cpu', 'gpu'] },
    deviceOf: { kind: 'any' },
    device: { kind: 'any' },
    gpu: { kind: 'any' },
    arithmetic: { kind: 'choice', range: ['auto', ...wasmArithmetics], default: 'auto' },
    verify: { kind: 'share', default: false },
    retainVectors: { kind: 'flag', default: true },
    memoryBudget: {
      kind: 'number',
      range: [Number.MIN_VALUE, Number.POSITIVE_INFINITY],
      default: 2 ** 30,
      says: 'a positive number of bytes',
    },
  },
} as const satisfies OptionTable<FieldEngineOptions>;

/** An engine that lends its CPU threads. */
interface Lender {
  [cpuThreads]?(): Promise<Lent | null>;
}

/** Bytes of a shared memory beyond the budget: constants, and gaps between vectors. */
const SPARE_BYTES = 2 ** 26;

/** Opens vectors on the CPU. @throws MsmError `bad-argument`, `unsupported-device` */
const openCpu = async (
  own: OpenField,
  arithmetic: NonNullable<FieldEngineOptions['arithmetic']>,
  memoryBudget: number,
  deviceOf: FieldEngineOptions['deviceOf'],
): Promise<VectorBackend> => {
  const lent = (await (deviceOf as Lender | undefined)?.[cpuThreads]?.()) ?? null;
  const sharedBytes = lent?.pool.sharesMemory ? memoryBudget + SPARE_BYTES : null;
  const memory = await openMemory(own, arithmetic === 'auto' ? undefined : [arithmetic], sharedBytes);
  if (memory !== null) {
    // a pool that shares memory hands out no vectors by messages
    const isUsable = lent !== null && lent.pool.sharesMemory === (memory.shared !== null);
    const threads = isUsable ? new VectorThreads(lent) : null;
    return new CpuVectors(new Arena(own, memory, memoryBudget), memory, threads);
  }
  if (arithmetic !== 'auto') {
    throw badArgument(`arithmetic is '${arithmetic}', which this platform does not have for ${own.name}; leave it out`);
  }
  throw noWebAssembly();
};

/**
 * Opens vectors on the GPU that the options name.
 *
 * @returns null if the CPU computes
 * @throws MsmError of `openVectors`; `bad-argument` if a GPU is wanted and the other engine has
 *   none
 */
const openGpu = async (
  own: OpenField,
  options: Omit<FieldEngineOptions, 'verify'>,
  memory: { readonly memoryBudget: number; readonly retainVectors: boolean },
): Promise<VectorBackend | null> => {
  const { backend, deviceOf, device, gpu } = options;
  const isMeant = deviceOf !== undefined || device !== undefined || gpu !== undefined;
  if (backend === 'cpu' || (backend === undefined && !isMeant)) return null;
  const { openVectors } = await import('./gpu/open-vectors.js').catch(notLoaded('open-vectors'));
  const opened = await openVectors(own, { deviceOf, device, gpu }, memory);
  if (opened === null && backend === 'gpu') {
    throw badArgument("deviceOf is an engine without a GPU, and backend is 'gpu'; leave one of them out");
  }
  return opened;
};

/**
 * Creates an engine for vectors of a field's elements, on the CPU or on a GPU.
 *
 * @throws MsmError `bad-argument`; `unsupported-device` if the platform has no WebAssembly or the
 *   GPU makes no device; `no-webgpu` if a GPU is wanted and there is none
 * @example
 * ```ts
 * import { createFieldEngine } from 'webgpu-msm/fields';
 *
 * const fr = await createFieldEngine({ field: 'bls12-381-fr' });
 * const values = await fr.load([1n, 1n, 1n, 1n]);
 * const coefficients = await fr.run((ops) => ops.keep(ops.intt(values)));
 * console.log((await fr.read(coefficients))[0]); // 1
 * fr.destroy();
 * ```
 */
export const createFieldEngine = async (options: FieldEngineOptions = {}): Promise<FieldEngine> => {
  const settings = readOptions(fieldEngineOptions, options, bare);
  const { field, arithmetic, memoryBudget, retainVectors, verify } = settings;
  const own = await openField(field);
  const onGpu = await openGpu(own, settings, { memoryBudget, retainVectors });
  const vectors = onGpu ?? (await openCpu(own, arithmetic, memoryBudget, settings.deviceOf));
  return new VectorEngine(own, vectors, verify);
};

/** Most rows and columns of a matrix. */
const MOST_ROWS = 2 ** 27;

/** Bytes of a scalar. */
const SCALAR_BYTES = 32;

/** `load`, `loadMatrix` and `read`. */
const fieldBytesOptions = {
  of: 'load, loadMatrix and read',
  rows: {
    ...turnRows,
    encoding: { kind: 'choice', range: ['le', 'be', 'le-montgomery'], default: 'le' },
    signal: signalRow,
  },
} as const satisfies OptionTable<FieldBytesOptions>;

/** `run`. */
const fieldRunOptions = {
  of: 'run',
  rows: { ...turnRows, onProgress: progressRow, verify: { kind: 'share' }, signal: signalRow },
} as const satisfies OptionTable<FieldRunOptions>;

/** The entries of `loadMatrix`. */
const matrixEntryOptions = {
  of: 'entries',
  rows: {
    rows: { kind: 'integer', range: [1, MOST_ROWS], isRequired: true, says: `a whole number from 1 to ${MOST_ROWS}` },
    columns: {
      kind: 'integer',
      range: [1, MOST_ROWS],
      isRequired: true,
      says: `a whole number from 1 to ${MOST_ROWS}`,
    },
    row: { kind: 'any' },
    column: { kind: 'any' },
    values: { kind: 'any' },
  },
} as const satisfies OptionTable<MatrixEntries>;

/** Size of work that goes first while a run pauses. */
const BESIDE = 0;

/** Returns the place of a call in the engine's queue. */
const ticketFor = ({ priority = 'normal', deadline, signal }: FieldCallOptions): Ticket => {
  const since = performance.now();
  return { priority, since, deadline: deadline === undefined ? null : since + deadline, signal };
};

const destroyedError = (): MsmError => new MsmError('destroyed', 'the field engine was destroyed; create a new one');

const recordedError = (name: string): MsmError =>
  badArgument(`${name} is recorded in a run that has not ended; await it first`);

/** @throws MsmError `destroyed` if steps use what is no longer there */
const assertOperands = (owner: VectorOwner, steps: readonly FieldStep[]): void => {
  for (const { kind, parameters, operands } of steps) {
    for (const operand of operands) if (operand.state !== 'recorded') vectorOf(owner, 'an operand', operand);
    if (kind === 'apply' && parameters.matrix.isDestroyed) {
      throw new MsmError('destroyed', 'apply: matrix was destroyed before the run began');
    }
  }
};

class VectorEngine implements FieldEngine, VectorOwner {
  readonly #field: OpenField;
  readonly #backend: VectorBackend;
  readonly #verify: number;
  readonly #handles = new Set<Vector | Matrix>();
  /** Number of sums that use a vector. */
  readonly #held = new Map<Vector | Matrix, number>();
  /** Handles that were destroyed while a run or a sum could use them. */
  readonly #late: (Vector | Matrix)[] = [];
  readonly #turns = new TurnQueue();
  /** Number of calls that have begun: one that computes, and those that it paused. */
  #underWay = 0;
  #isDestroyed = false;
  #lastRun: FieldRunRecord | null = null;

  /** @param verify probability that a run is verified */
  constructor(field: OpenField, backend: VectorBackend, verify: number) {
    this.#field = field;
    this.#backend = backend;
    this.#verify = verify;
  }

  get p(): bigint {
    return this.#field.p;
  }

  get numberBytes(): number {
    return numberBytesOf(this.#field);
  }

  get workers(): number {
    return this.#backend.workers;
  }

  get longestTransform(): number {
    return 2 ** this.#field.twoAdicity;
  }

  get lastRun(): FieldRunRecord | null {
    return this.#lastRun;
  }

  get memory(): { readonly used: number; readonly peak: number } {
    return this.#backend.memory;
  }

  get #format(): NumberFormat {
    return { p: this.p, wordBytes: this.numberBytes };
  }

  /**
   * Runs `work` when it has its turn. While it computes, no other work does. If there is no memory
   * for it beside a run that paused, it runs again after that.
   */
  async #inTurn<Result>(ticket: Ticket, work: (call: VectorCall) => Promise<Result>): Promise<Result> {
    let isBeside = false;
    const check = (): void => {
      assertNotAborted(ticket.signal);
      if (this.#isDestroyed) throw destroyedError();
    };
    const begin = async (pause: Pause): Promise<Result> => {
      isBeside = this.#underWay > 0;
      this.#underWay++;
      try {
        // the caller's synchronous code after the call runs first
        await undefined;
        check();
        return await work({ ticket, check, pause: () => pause(BESIDE)?.then(check) ?? null });
      } finally {
        this.#underWay--;
        if (this.#underWay === 0) this.#releaseLate();
        if (this.#underWay === 0 && this.#isDestroyed) this.#releaseAll();
      }
    };
    try {
      return await this.#turns.inTurn({ ...ticket, size: BESIDE }, begin);
    } catch (error) {
      if (!isBeside || !(error instanceof MsmError) || error.code !== 'out-of-memory') throw error;
    }
    return this.#turns.inTurn({ ...ticket, size: ANY_SIZE }, begin);
  }

  release(handle: Vector | Matrix): void {
    this.#handles.delete(handle);
    if (this.#underWay > 0 || this.#held.has(handle)) this.#late.push(handle);
    else this.#backend.release(handle);
  }

  #releaseLate(): void {
    for (const handle of this.#late.splice(0)) {
      if (this.#held.has(handle)) this.#late.push(handle);
      else this.#backend.release(handle);
    }
  }

  hold(vector: Vector, name: string): FieldScalars {
    this.#assertUsable();
    vectorOf(this, name, vector);
    if (!this.#backend.has(vector)) throw recordedError(name);
    this.#held.set(vector, (this.#held.get(vector) ?? 0) + 1);
    let isHeld = true;
    return {
      length: vector.length,
      onDevice: this.#backend.onDevice(vector, {
        assertUsable: () => this.#assertUsable(),
        inTurn: (ticket, work) => this.#inTurn(ticket, work),
      }),
      read: async (ticket) => {
        const words = await this.#inTurn(ticket, (call) => this.#readWords(vector, 1n, call));
        return new Uint8Array(resized(words, this.numberBytes / 4, SCALAR_BYTES / 4).buffer);
      },
      leave: () => {
        if (isHeld) this.#leave(vector);
        isHeld = false;
      },
    };
  }

  /** Notes that a sum with a vector has ended. */
  #leave(vector: Vector): void {
    const left = (this.#held.get(vector) as number) - 1;
    if (left > 0) this.#held.set(vector, left);
    else this.#held.delete(vector);
    if (this.#underWay === 0 && !this.#isDestroyed) this.#releaseLate();
  }

  async #readWords(vector: Vector, scale: bigint, call: VectorCall): Promise<Uint32Array<ArrayBuffer>> {
    const words = new Uint32Array((vector.length * this.numberBytes) / 4);
    await this.#backend.leave(vector, { words, scale }, call);
    return words;
  }

  #assertUsable(): void {
    if (this.#isDestroyed) throw destroyedError();
  }

  async load(numbers: BytesLike | readonly bigint[], options: FieldBytesOptions = {}): Promise<FieldVector> {
    return fromCaller(async () => {
      this.#assertUsable();
      const { encoding: own, ...turn } = readOptions(fieldBytesOptions, options);
      const words = copyNumbers('numbers', numbers, own, this.#format);
      if (words.length === 0) throw badArgument('numbers: a vector must have at least one element');
      const vector = new Vector(this, (4 * words.length) / this.numberBytes, 'resident');
      const scale = scaleOf(own, this.#format);
      const entered = this.#inTurn(ticketFor(turn), async (call) => {
        await this.#backend.enter(vector, { words, scale }, call);
        this.#handles.add(vector);
      });
      try {
        await entered;
      } catch (error) {
        words.fill(0);
        throw error;
      }
      return vector;
    });
  }

  async loadMatrix(entries: MatrixEntries, options: FieldBytesOptions = {}): Promise<SparseMatrix> {
    return fromCaller(async () => {
      this.#assertUsable();
      const { encoding: own, ...turn } = readOptions(fieldBytesOptions, options);
      const place = { argument: 'entries', path: 'entries.' };
      const { rows, columns, row, column, values } = readOptions(matrixEntryOptions, entries, place);
      const [ownRow, ownColumn] = [
        copyIndices('entries.row', row, rows),
        copyIndices('entries.column', column, columns),
      ];
      const words = copyNumbers('entries.values', values, own, this.#format);
      const count = (4 * words.length) / this.numberBytes;
      if (ownRow.length !== count || ownColumn.length !== count) {
        throw badArgument(
          `entries: row, column and values must have the same length, got ${ownRow.length}, ${ownColumn.length}, ${count}`,
        );
      }
      return this.#enterMatrix({ rows, columns, entries: count }, own, turn, async (call) => {
        const packing = packEntries({ rows, columns, row: ownRow, column: ownColumn }, words, this.numberBytes / 4);
        return inTimeSlices(packing, new TimeSlice(() => call.check()));
      });
    });
  }

  /**
   * Loads a matrix whose entries a reader of files has packed and checked, without a copy. Provers
   * use it; the interface does not have it.
   *
   * @param entries of this engine's field, values below its prime; the caller leaves them unchanged
   */
  async loadPackedMatrix(entries: PackedEntries, options: FieldBytesOptions = {}): Promise<SparseMatrix> {
    this.#assertUsable();
    const { encoding: own, ...turn } = readOptions(fieldBytesOptions, options);
    return this.#enterMatrix({ ...entries, entries: entries.row.length }, own, turn, async () => entries);
  }

  async #enterMatrix(
    { rows, columns, entries: count }: Pick<SparseMatrix, 'rows' | 'columns' | 'entries'>,
    encoding: FieldEncoding,
    turn: FieldCallOptions,
    entriesIn: (call: VectorCall) => Promise<PackedEntries>,
  ): Promise<SparseMatrix> {
    const matrix = new Matrix(this, { rows, columns, entries: count });
    const scale = scaleOf(encoding, this.#format);
    await this.#inTurn(ticketFor(turn), async (call) => {
      await this.#backend.enterMatrix(matrix, { ...(await entriesIn(call)), scale }, call);
      this.#handles.add(matrix);
    });
    return matrix;
  }

  async run<Result>(record: (operations: FieldOperations) => Result, options: FieldRunOptions = {}): Promise<Result> {
    return fromCaller(async () => {
      this.#assertUsable();
      const { onProgress, verify = this.#verify, ...turn } = readOptions(fieldRunOptions, options);
      const { steps, result } = this.#record(record);
      try {
        await this.#inTurn(ticketFor(turn), (call) =>
          this.#execute(steps, { ...call, onProgress }, Math.random() < verify),
        );
      } catch (error) {
        for (const { result: vector } of steps) vector.state = 'destroyed';
        throw error;
      }
      return result;
    });
  }

  async plan(record: (operations: FieldOperations) => unknown): Promise<FieldPlan> {
    this.#assertUsable();
    const { steps } = this.#record(record);
    try {
      return await this.#inTurn(ticketOf(undefined), (call) => {
        assertOperands(this, steps);
        return this.#backend.plan(steps, call, this.#verify > 0);
      });
    } finally {
      for (const { result } of steps) result.state = 'destroyed';
    }
  }

  #record<Result>(record: (operations: FieldOperations) => Result): {
    readonly steps: readonly FieldStep[];
    readonly result: Result;
  } {
    if (typeof record !== 'function') throw badArgument(`record must be a function, got ${kindOf(record)}`);
    return recordSteps(this, this.#field, record);
  }

  async #execute(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<void> {
    assertOperands(this, steps);
    this.#lastRun = await this.#backend.execute(steps, call, verifies);
    for (const { result } of steps) {
      result.state = result.isKept ? 'resident' : 'destroyed';
      if (result.isKept) this.#handles.add(result);
    }
  }

  async read(vector: FieldVector, options: FieldBytesOptions = {}): Promise<OwnBytes> {
    return fromCaller(async () => {
      this.#assertUsable();
      const { encoding: own, ...turn } = readOptions(fieldBytesOptions, options);
      const source = vectorOf(this, 'vector', vector);
      const words = await this.#inTurn(ticketFor(turn), (call) => {
        if (!this.#backend.has(vectorOf(this, 'vector', source))) throw recordedError('vector');
        return this.#readWords(source, scaleOf(own, this.#format), call);
      });
      const bytes = new Uint8Array(words.buffer);
      if (own === 'be') reverseNumbers(bytes, this.numberBytes);
      return bytes;
    });
  }

  trim(): void {
    if (this.#underWay === 0) this.#backend.trim();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    if (this.#underWay === 0) this.#releaseAll();
  }

  #releaseAll(): void {
    for (const handle of this.#handles) {
      if (handle instanceof Vector) handle.state = 'destroyed';
      else handle.isDestroyed = true;
    }
    this.#handles.clear();
    this.#backend.destroy();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'FieldEngine';
  }

  [inspect](): object {
    return printed('FieldEngine', { field: this.#field.name, memory: this.memory, isDestroyed: this.#isDestroyed });
  }
}
