/** The engine of a caller: it reads arguments, queues calls and writes results. */
import type {
  EngineEvent,
  EngineStats,
  LoadBasesOptions,
  LoadScalarsOptions,
  MsmBatchOptions,
  MsmOptions,
} from '../api/calls.js';
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../api/device.js';
import type { Bases, MsmEngine, MsmPlan, Scalars } from '../api/engine.js';
import type { RunRecord } from '../api/run-record.js';
import type { AffinePoint, BytesLike, Coordinate, PointEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { assertNotAborted, badArgument, fromCaller, MsmError, show } from '../errors.js';
import { dispose, inspect, printed } from '../handle.js';
import type { Backend } from '../msm/backend.js';
import type { LoadedBases } from '../msm/inputs/loaded-bases.js';
import { LoadedScalars, ScalarStore, type ScalarVector } from '../msm/inputs/scalars.js';
import { loadedTables } from '../msm/plan/workload.js';
import type { Dispatcher } from '../msm/routing/router.js';
import { publicPoint } from '../msm/stages/combine-windows.js';
import { readOptions } from '../option-table.js';
import type { Abandon, CallQueue, CallTicket } from '../scheduling/call-queue.js';
import { ticketOf } from '../scheduling/edf.js';
import { nextTurn, TimeSlice } from '../scheduling/time-slice.js';
import { CallClock, CallContext } from '../session/call.js';
import { assertTestable, countPoints, type ResultPoint, readPoints } from './arguments.js';
import {
  CallInputs,
  convertScalars,
  type GivenPoints,
  type GivenScalars,
  hasComputed,
  leavingVectors,
  scalarBytesOf,
  withCopies,
} from './call-inputs.js';
import type { FirstUse } from './first-use.js';
import {
  type CallSettings,
  loadBasesOptions,
  loadScalarsOptions,
  msmBatchOptions,
  msmOptions,
  type SumSettings,
} from './options.js';
import {
  abortWhenAllAbort,
  computeGroup,
  type GroupInput,
  groupOf,
  type Multiply,
  type SumRequest,
} from './request-group.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes whose copy at the call takes a turn of the event loop: about 2 ms. */
const BYTES_OF_A_TURN = 2 ** 21;

export class Engine implements MsmEngine<Coordinate> {
  readonly #parts: EngineParts;
  readonly #curve: CurveContext;
  readonly #queue: CallQueue;
  readonly #backend: Backend;
  readonly #inputs: CallInputs;
  readonly #counts = { gpuMs: 0, retries: 0 };
  #lastRun: RunRecord | null = null;
  #isDestroyed = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#curve = parts.curve;
    this.#inputs = new CallInputs(parts.curve);
    this.#queue = parts.queue;
    this.#backend = parts.backend;
  }

  get adapter(): AdapterDescription {
    return this.#backend.adapter;
  }

  get backends(): readonly ('gpu' | 'cpu')[] {
    return this.#parts.backends();
  }

  get pipelines(): readonly CompileTime[] {
    return this.#backend.pipelines;
  }

  get memory(): MemoryUse {
    return this.#backend.memory;
  }

  /** Largest buffer of the device, in bytes, for provers that keep bases. */
  get maxBufferSize(): number {
    return this.#backend.maxBufferSize;
  }

  get selfTest(): SelfTest | null {
    return this.#backend.selfTest;
  }

  get lastRun(): RunRecord | null {
    return this.#lastRun;
  }

  get stats(): EngineStats {
    const calibration = this.#parts.firstUse?.state ?? 'none';
    return { ...this.#queue.stats, ...this.#counts, frees: this.#backend.frees, calibration };
  }

  async warmup(n: number): Promise<void> {
    return fromCaller(async () => {
      this.#assertUsable(undefined);
      if (!Number.isInteger(n) || n < 1) throw badArgument(`n must be a positive integer, got ${show(n)}`);
      await this.warmUp(n, 'normal');
    });
  }

  /** Queues a call that compiles pipelines. */
  async warmUp(n: number, priority: CallSettings['priority']): Promise<void> {
    const warm = async (call: CallContext): Promise<void> => {
      await this.#backend.warmUp(n, call);
      await this.#parts.warmUpCpu?.();
    };
    await this.#run('warmup', 0, { priority }, new CallClock(), warm);
  }

  async trim(): Promise<void> {
    this.#assertUsable(undefined);
    await this.#parts.trimCpu();
    await this.#backend.trim();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#parts.firstUse?.destroy();
    this.#parts.destroyCpu();
    this.#backend.destroy();
    this.#queue.end(new MsmError('destroyed', 'the engine was destroyed; create a new one'));
  }

  [dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'MsmEngine';
  }

  [inspect](): object {
    const { backends, memory } = this;
    return printed('MsmEngine', { curve: this.#curve.name, backends, memory, isDestroyed: this.#isDestroyed });
  }

  async loadBases(points: GivenPoints, options: LoadBasesOptions = {}): Promise<Bases> {
    return fromCaller(async () => {
      const settings = readOptions(loadBasesOptions, options);
      this.#assertUsable(settings.signal);
      const { encoding, checkSubgroup, label, precompute } = settings;
      assertTestable(this.#curve, checkSubgroup);
      const tables = loadedTables(this.#curve, precompute);
      // checked before the points are read, which may take long
      this.#backend.assertFits(countPoints(this.#curve, points, encoding), tables);
      const timeSlice = new TimeSlice(() => this.#assertUsable(settings.signal));
      const source = await readPoints(this.#curve, points, encoding, timeSlice);
      this.#backend.assertFits(source.bytes.length / this.#curve.pointBytes, tables);
      const request = { source, tables, label, checkSubgroup };
      const load = async (call: CallContext): Promise<Bases> => {
        call.checkpoint();
        const bases = await this.#backend.load(request, call);
        this.#inputs.addBases(bases);
        return bases;
      };
      const { length } = source.bytes;
      return this.#run('loadBases', length, settings, new CallClock(), load, (bases) => bases.destroy());
    });
  }

  async loadScalars(scalars: BytesLike | readonly bigint[], options: LoadScalarsOptions = {}): Promise<Scalars> {
    return fromCaller(async () => {
      const settings = readOptions(loadScalarsOptions, options);
      this.#assertUsable(settings.signal);
      const { scalarEncoding, label } = settings;
      const given = this.#inputs.readScalars(scalars, scalarEncoding);
      const load = async (call: CallContext): Promise<Scalars> => {
        await convertScalars(this.#curve, [given], scalarEncoding, new TimeSlice(() => call.checkpoint()));
        call.checkpoint();
        const store = new ScalarStore(this.#curve, given.scalars, label);
        await this.#backend.place(store, call);
        return new LoadedScalars(store, this.#curve.scalarBytes, 0, given.n, false);
      };
      const { length } = given.scalars;
      return this.#run('loadScalars', length, settings, new CallClock(), load, (loaded) => loaded.destroy());
    });
  }

  msm(bases: Bases, scalars: GivenScalars, options?: MsmOptions): Promise<AffinePoint<Coordinate>>;
  msm(bases: Bases, scalars: GivenScalars, options: MsmOptions<PointEncoding>): Promise<Bytes>;
  async msm(
    bases: Bases,
    scalars: GivenScalars,
    options: MsmOptions<'affine' | PointEncoding> = {},
  ): Promise<ResultPoint> {
    return fromCaller(async () => {
      const clock = new CallClock();
      const settings = readOptions(msmOptions, options);
      this.#assertUsable(settings.signal);
      const own = this.#inputs.readBases(bases);
      const vector = this.#inputs.readVector(own, scalars, settings);
      const [sum] = await this.#sum('msm', own, [vector], settings, clock);
      return sum as ResultPoint;
    });
  }

  msmBatch(
    bases: Bases,
    scalars: readonly GivenScalars[],
    options?: MsmBatchOptions,
  ): Promise<AffinePoint<Coordinate>[]>;
  msmBatch(bases: Bases, scalars: readonly GivenScalars[], options: MsmBatchOptions<PointEncoding>): Promise<Bytes[]>;
  async msmBatch(
    bases: Bases,
    scalars: readonly GivenScalars[],
    options: MsmBatchOptions<'affine' | PointEncoding> = {},
  ): Promise<ResultPoint[]> {
    return fromCaller(async () => {
      const clock = new CallClock();
      const settings = readOptions(msmBatchOptions, options);
      this.#assertUsable(settings.signal);
      const own = this.#inputs.readBases(bases);
      const vectors = this.#inputs.readVectors(own, scalars, settings);
      return this.#sum('msmBatch', own, vectors, settings, clock);
    });
  }

  async plan(bases: Bases, n: number | readonly number[]): Promise<MsmPlan> {
    this.#assertUsable(undefined);
    const own = this.#inputs.readBases(bases);
    const filled = this.#inputs.readLengths(own, n);
    if (filled.length === 0) return { bytes: 0, submits: 0, predicted: null };
    const predicted = this.#parts.dispatcher.predict(own, filled);
    return { ...this.#backend.footprint(own, filled), predicted };
  }

  /** @throws MsmError `destroyed`, `aborted`, `device-lost` */
  #assertUsable(signal: AbortSignal | undefined): void {
    if (this.#isDestroyed) throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    this.#backend.assertUsable();
    assertNotAborted(signal);
  }

  /**
   * Queues a call, and runs it when it has its turn.
   *
   * @param bytes held for the call while it waits
   * @param abandon releases a result that came after the call had ended
   */
  #run<Result>(
    kind: EngineEvent['kind'],
    bytes: number,
    settings: CallSettings & { readonly request?: SumRequest | undefined },
    clock: CallClock,
    task: (call: CallContext) => Promise<Result>,
    abandon?: Abandon<Result>,
  ): Promise<Result> {
    const { priority, deadline = null, signal, request, onProgress } = settings;
    const assertUsable = (): void => this.#assertUsable(undefined);
    const begin = async (ticket: CallTicket): Promise<Result> => {
      if (bytes > BYTES_OF_A_TURN) await nextTurn();
      return task(new CallContext({ ticket, clock, onProgress, assertUsable }));
    };
    const queued = { kind, priority, deadline, bytes, signal, request };
    return this.#queue.run(begin, queued, abandon);
  }

  /** Queues a call that computes sums. */
  async #sum(
    kind: 'msm' | 'msmBatch',
    bases: LoadedBases,
    vectors: readonly ScalarVector[],
    settings: SumSettings,
    clock: CallClock,
  ): Promise<ResultPoint[]> {
    clock.enter(null);
    const { scalarEncoding, result, verify, onProgress } = settings;
    const request: SumRequest = {
      ...{ bases, vectors, scalarEncoding, result, verify },
      coalesced: (waiting) => this.#worthCoalescing(request, waiting as readonly SumRequest[]),
    };
    // progress is reported for one call only, and a vector may be lost with its device
    const coalescing = onProgress === undefined && !hasComputed(vectors) ? request : undefined;
    const multiply: Multiply = (input, call) => this.#multiply(input, call);
    const task = async (call: CallContext): Promise<ResultPoint[]> => {
      const ticket = call.ticket as CallTicket;
      const group = groupOf(request, ticket);
      const signals = [call.signal, ...ticket.coalesced.map(({ signal }) => signal)];
      await abortWhenAllAbort(signals, (signal) =>
        computeGroup(this.#curve, group, multiply, call.withTicket({ ...ticket, signal })),
      );
      return group.outcome();
    };
    const queued = { ...settings, request: coalescing };
    const sums = await leavingVectors(vectors, task, (whole) =>
      this.#run(kind, scalarBytesOf(vectors), queued, clock, whole),
    );
    // a call that fails may still be read by what it began
    this.#inputs.giveBack(vectors);
    return sums;
  }

  /** Selects waiting requests worth computing with `own`. */
  #worthCoalescing(own: SumRequest, waiting: readonly SumRequest[]): readonly SumRequest[] {
    if (!this.#parts.coalesces) return [];
    const others = waiting.filter(({ bases, verify }) => bases === own.bases && verify === own.verify);
    const lengthsOf = ({ vectors }: SumRequest): number[] => vectors.map(({ n }) => n);
    const chosen = this.#parts.dispatcher.worthCoalescing(own.bases, lengthsOf(own), others.map(lengthsOf));
    return chosen.map((i) => others[i] as SumRequest);
  }

  async #multiply(input: GroupInput, call: CallContext): Promise<readonly AffinePoint<Coordinate>[]> {
    const { bases, vectors, verify } = input;
    call.checkpoint();
    if (hasComputed(vectors) && !(await this.#parts.dispatcher.multipliesThere(input, call))) {
      return withCopies(vectors, ticketOf(call.ticket), (own) => this.#multiply({ bases, vectors: own, verify }, call));
    }
    bases.assertAlive();
    const n = vectors.reduce((sum, vector) => sum + vector.n, 0);
    if (n === 0) return vectors.map(() => publicPoint(this.#curve, null));
    const surveyed = this.#backend.survey(bases, vectors);
    const request = { bases, vectors, surveyed, n, verify };
    const { sums, record } = await this.#parts.dispatcher.multiply(request, call);
    this.#lastRun = record;
    if (record.on === 'gpu') this.#counts.gpuMs += record.hostTimes?.submitToResultMs ?? 0;
    this.#counts.retries += Number(record.retried !== null);
    return sums;
  }
}

/** Parts that an engine is composed of. */
interface EngineParts {
  readonly curve: CurveContext;
  readonly queue: CallQueue;
  /** The calibration of the engine, if one was asked for. */
  readonly firstUse: FirstUse | null;
  /** The backend that has the bases: the GPU where there is one. */
  readonly backend: Backend;
  readonly dispatcher: Dispatcher;
  /** Returns the backends that may compute. */
  backends(): readonly ('gpu' | 'cpu')[];
  /** Prepares the CPU's code; null where the CPU computes nothing. */
  readonly warmUpCpu: (() => Promise<void>) | null;
  /** True to compute small sums over the same bases together. */
  readonly coalesces: boolean;
  /** Frees the CPU's memory for later calls, and ends its workers. */
  trimCpu(): Promise<void>;
  destroyCpu(): void;
}
