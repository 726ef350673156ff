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
import { cpuThreads, dispose, inspect, printed } from '../handle.js';
import type { Backend } from '../msm/backend.js';
import type { LentThreads } from '../msm/cpu/cpu-threads.js';
import type { LoadedBases } from '../msm/inputs/loaded-bases.js';
import { hasComputed, LoadedScalars, ScalarStore, type ScalarVector } from '../msm/inputs/scalars.js';
import { loadedTables } from '../msm/plan/workload.js';
import { publicPoint } from '../msm/stages/combine-windows.js';
import { readOptions } from '../option-table.js';
import { type Call, CallClock } from '../scheduling/call.js';
import type { Abandon, CallQueue, CoalescedCall, Task } from '../scheduling/call-queue.js';
import { nextTurn, TimeSlice } from '../scheduling/time-slice.js';
import { assertTestable, type ResultPoint, readPoints } from './arguments.js';
import {
  CallInputs,
  convertScalars,
  type GivenPoints,
  type GivenScalars,
  leaveVectors,
  scalarBytesOf,
} from './call-inputs.js';
import type { EngineParts } from './engine-parts.js';
import {
  type CallSettings,
  loadBasesOptions,
  loadScalarsOptions,
  msmBatchOptions,
  msmOptions,
  type SumSettings,
} from './options.js';
import { type GroupInput, RequestGroup, type SumRequest, whenAllAbort } from './request-group.js';

/** A call of the engine, before it is queued. */
interface EngineCall<Result> {
  readonly kind: EngineEvent['kind'];
  /** Bytes held for the call while it waits. */
  readonly bytes: number;
  readonly settings: CallSettings;
  readonly clock?: CallClock;
  readonly request?: SumRequest | undefined;
  readonly task: Task<Result>;
  /** Releases a result that came after the call had ended. */
  readonly abandon?: Abandon<Result>;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Loads points that were checked before, as those of a cache of keys are. */
export interface CheckedLoader<Of extends Coordinate> extends MsmEngine<Of> {
  /** As `loadBases`. The CPU does not check the points again. */
  loadCheckedBases(points: Uint8Array, options: LoadBasesOptions): Promise<Bases>;
}

/** Returns the least bytes that points take in main memory; what is no points is refused by its reader. */
const leastBytesOf = ({ pointBytes }: CurveContext, points: GivenPoints): number => {
  try {
    const { length, byteLength } = points as Partial<Readonly<Record<'length' | 'byteLength', unknown>>>;
    const bytes = Array.isArray(points) ? Number(length) * pointBytes : byteLength;
    return typeof bytes === 'number' && bytes > 0 ? bytes : 0;
  } catch {
    // null, or a getter that throws
    return 0;
  }
};

/** Bytes whose copy at the call takes a turn of the event loop: about 2 ms. */
const BYTES_OF_A_TURN = 2 ** 21;

export class Engine implements CheckedLoader<Coordinate> {
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
    const { gpu, cpuComputes } = this.#parts;
    if (gpu?.isAvailable !== true) return ['cpu'];
    return cpuComputes ? ['gpu', 'cpu'] : ['gpu'];
  }

  get pipelines(): readonly CompileTime[] {
    return this.#backend.pipelines;
  }

  get memory(): MemoryUse {
    return this.#backend.memory;
  }

  get selfTest(): SelfTest | null {
    return this.#backend.selfTest;
  }

  get lastRun(): RunRecord | null {
    return this.#lastRun;
  }

  get stats(): EngineStats {
    return { ...this.#queue.stats, ...this.#counts, frees: this.#backend.frees };
  }

  async warmup(n: number): Promise<void> {
    return fromCaller(async () => {
      this.#assertUsable(undefined);
      if (!Number.isInteger(n) || n < 1) throw badArgument(`n must be a positive integer, got ${show(n)}`);
      await this.#parts.warmUp.run(n, 'normal');
    });
  }

  async trim(): Promise<void> {
    this.#assertUsable(undefined);
    await this.#parts.cpu?.trim();
    await this.#backend.trim();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#parts.cpu?.destroy();
    this.#backend.destroy();
    this.#queue.end(new MsmError('destroyed', 'the engine was destroyed; create a new one'));
  }

  [dispose](): void {
    this.destroy();
  }

  /** Lends the CPU's workers to an engine of vectors; null: none, or no memory is shared with them. */
  async [cpuThreads](): Promise<LentThreads | null> {
    return (await this.#parts.lends.get()).forVectors;
  }

  get [Symbol.toStringTag](): string {
    return 'MsmEngine';
  }

  [inspect](): object {
    const { backends, memory } = this;
    return printed('MsmEngine', { curve: this.#curve.name, backends, memory, isDestroyed: this.#isDestroyed });
  }

  loadBases(points: GivenPoints, options: LoadBasesOptions = {}): Promise<Bases> {
    return this.#load(points, options, false);
  }

  loadCheckedBases(points: GivenPoints, options: LoadBasesOptions): Promise<Bases> {
    return this.#load(points, options, true);
  }

  async #load(points: GivenPoints, options: LoadBasesOptions, areChecked: boolean): Promise<Bases> {
    return fromCaller(async () => {
      const settings = readOptions(loadBasesOptions, options);
      this.#assertUsable(settings.signal);
      const { encoding, checkSubgroup, label, precompute } = settings;
      assertTestable(this.#curve, checkSubgroup);
      const tables = loadedTables(this.#curve, precompute);
      const timeSlice = new TimeSlice(() => this.#assertUsable(settings.signal));
      const { memory } = this.#parts;
      let free = memory.reserve(leastBytesOf(this.#curve, points));
      try {
        const source = await readPoints(this.#curve, points, encoding, timeSlice);
        free();
        // points of some encodings take more than their bytes
        free = memory.reserve(source.bytes.length);
        return await this.#run<Bases>({
          kind: 'loadBases',
          bytes: source.bytes.length,
          settings,
          task: async (call) => {
            call.checkpoint();
            const bases = await this.#backend.load({ source, tables, label, checkSubgroup, areChecked }, call);
            memory.hold(bases);
            this.#inputs.addBases(bases);
            return bases;
          },
          abandon: (bases) => bases.destroy(),
        });
      } finally {
        free();
      }
    });
  }

  async loadScalars(scalars: BytesLike | readonly bigint[], options: LoadScalarsOptions = {}): Promise<Scalars> {
    return fromCaller(async () => {
      const settings = readOptions(loadScalarsOptions, options);
      this.#assertUsable(settings.signal);
      const { scalarEncoding, label } = settings;
      const given = this.#inputs.readScalars(scalars, scalarEncoding);
      return this.#run<Scalars>({
        kind: 'loadScalars',
        bytes: given.scalars.length,
        settings,
        task: async (call) => {
          await convertScalars(this.#curve, [given], scalarEncoding, call.timeSlice());
          call.checkpoint();
          const store = new ScalarStore(this.#curve, given.scalars, label);
          await this.#backend.place(store, call);
          return new LoadedScalars(store, this.#curve.scalarBytes, 0, given.n, false);
        },
        abandon: (loaded) => loaded.destroy(),
      });
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
    const { memory } = this.#parts;
    const main = { mainBytes: memory.points, mainLimit: memory.limit };
    if (filled.length === 0) return { bytes: 0, submits: 0, predicted: null, ...main };
    const predicted = this.#parts.dispatcher.predict(own, filled);
    return { ...this.#backend.footprint(own, filled), predicted, ...main };
  }

  /** @throws MsmError `destroyed`, `aborted`, `device-lost` */
  #assertUsable(signal: AbortSignal | undefined): void {
    if (this.#isDestroyed) throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    this.#backend.assertUsable();
    assertNotAborted(signal);
  }

  /** Queues a call, and runs its task when it has its turn. */
  #run<Result>({ kind, bytes, settings, clock, request, task, abandon }: EngineCall<Result>): Promise<Result> {
    const { priority, deadline = null, signal, onProgress } = settings;
    const begin: Task<Result> = async (call, coalesced) => {
      if (bytes > BYTES_OF_A_TURN) await nextTurn();
      return task(call, coalesced);
    };
    const assertUsable = (): void => this.#assertUsable(undefined);
    const queued = { kind, priority, deadline, bytes, signal, request, clock, onProgress, assertUsable };
    return this.#queue.run(begin, queued, abandon);
  }

  /** Queues a call that computes sums. @param clock of the call, from its first moment */
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
    let hasBegun = false;
    const task: Task<ResultPoint[]> = async (call, coalesced) => {
      hasBegun = true;
      try {
        return await this.#computeGroup(request, call, coalesced);
      } finally {
        leaveVectors(vectors);
      }
    };
    let sums: ResultPoint[];
    try {
      sums = await this.#run({ kind, bytes: scalarBytesOf(vectors), settings, clock, request: coalescing, task });
    } finally {
      if (!hasBegun) leaveVectors(vectors);
    }
    // submitted work may still read these vectors after the call fails
    this.#inputs.giveBack(vectors);
    return sums;
  }

  /** Computes the request of a call, and those of the calls that were coalesced with it. */
  async #computeGroup(request: SumRequest, call: Call, coalesced: readonly CoalescedCall[]): Promise<ResultPoint[]> {
    const group = new RequestGroup(request, coalesced);
    const { signal, release } = whenAllAbort([call, ...coalesced].map((each) => each.signal));
    const own = call.with({ signal });
    try {
      const input = await group.prepare(this.#curve, own);
      if (input !== null) group.settle(await this.#multiply(input, own));
    } catch (error) {
      group.fail(error);
    } finally {
      release();
    }
    return group.outcome();
  }

  /** Selects waiting requests worth computing with `own`. */
  #worthCoalescing(own: SumRequest, waiting: readonly SumRequest[]): readonly SumRequest[] {
    if (!this.#parts.coalesces) return [];
    const others = waiting.filter(({ bases, verify }) => bases === own.bases && verify === own.verify);
    const lengthsOf = ({ vectors }: SumRequest): number[] => vectors.map(({ n }) => n);
    const chosen = this.#parts.dispatcher.worthCoalescing(own.bases, lengthsOf(own), others.map(lengthsOf));
    return chosen.map((i) => others[i] as SumRequest);
  }

  /** Computes the sums of vectors, and notes how. */
  async #multiply({ bases, vectors, verify }: GroupInput, call: Call): Promise<readonly AffinePoint<Coordinate>[]> {
    call.checkpoint();
    bases.assertAlive();
    const n = vectors.reduce((sum, vector) => sum + vector.n, 0);
    if (n === 0) return vectors.map(() => publicPoint(this.#curve, null));
    const { sums, record } = await this.#parts.dispatcher.multiply({ bases, vectors, n, verify }, call);
    this.#lastRun = record;
    if (record.on === 'gpu') this.#counts.gpuMs += record.hostTimes?.submitToResultMs ?? 0;
    this.#counts.retries += Number(record.retried !== null);
    return sums;
  }
}
