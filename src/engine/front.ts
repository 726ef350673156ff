/** What engines have in common, whatever computes: arguments, the queue, encodings of points, scalars and results. */
import type { LoadBasesOptions, LoadScalarsOptions, MsmBatchOptions, MsmOptions } from '../api/calls.js';
import type { MsmPlan } from '../api/engine.js';
import type { Bases, Scalars } from '../api/handles.js';
import type { RunRecord } from '../api/run-record.js';
import type { EngineEvent, EngineStats } from '../api/sharing.js';
import type { AffinePoint, BytesLike, Coordinate, PointEncoding, ScalarEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { PointSource } from '../curves/point-source.js';
import { assertNotAborted, badArgument, MsmError, notLoaded, onAbort, show } from '../errors.js';
import { LoadedScalars, ScalarStore } from '../msm/loaded-scalars.js';
import { loadedTables, type TableShape } from '../msm/plan/workload.js';
import { dispose } from '../msm/resident-bases.js';
import type { ScalarVector } from '../msm/scalar-vectors.js';
import { publicPoint } from '../msm/stages/fold.js';
import type { Abandon, CallQueue, CallTicket, Coalescing } from '../scheduling/call-queue.js';
import { CallClock } from '../session/clock.js';
import {
  type Call,
  type CallOptions,
  countPoints,
  encodedBytes,
  encodePoints,
  encodeScalars,
  isPlain,
  itemsOf,
  readCallOptions,
  readOffsets,
  readPrecompute,
} from './input.js';

type Bytes = Uint8Array<ArrayBuffer>;
type GivenScalars = BytesLike | readonly bigint[] | Scalars;
type Vectors = readonly GivenScalars[];
type Result = CallOptions['result'];

/** Bases that an engine made. */
export interface OwnBases extends Bases {
  /** @throws MsmError `destroyed` */
  assertAlive(): void;
}

/** Makes of a sum what was asked for. */
type Writer = (sum: AffinePoint<Coordinate>) => AffinePoint<Coordinate> | Bytes;

/** What a call wants. */
export interface Wanted<Own> extends Coalescing {
  readonly bases: Own;
  readonly factors: readonly ScalarVector[];
  readonly scalarEncoding: ScalarEncoding | undefined;
  readonly result: Result;
  readonly verify: number | undefined;
}

/** A call whose sums are computed with those of others. */
interface Party<Own> {
  readonly wanted: Wanted<Own>;
  settle(result: (AffinePoint<Coordinate> | Bytes)[]): void;
  /** Of something that is wrong with itself. */
  fail(error: unknown): void;
  /** Of something that went wrong with all of them. */
  failTogether(error: unknown): void;
}

/** Does something with a signal that is aborted when all are; undefined if one never can be. */
const unanimously = async (
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal | undefined) => Promise<void>,
): Promise<void> => {
  if (signals.length === 1) return work(signals[0]);
  if (signals.includes(undefined)) return work(undefined);
  const controller = new AbortController();
  const look = (): void => {
    if (signals.every((each) => each?.aborted)) controller.abort(signals[0]?.reason);
  };
  const deaf = signals.map((signal) => onAbort(signal, look));
  look();
  try {
    await work(controller.signal);
  } finally {
    for (const each of deaf) each();
  }
};

/** Of scalars that a call brought with it. */
const bytesOf = (vectors: readonly ScalarVector[]): number =>
  vectors.reduce((sum, { scalars, loaded }) => sum + (loaded === null ? scalars.length : 0), 0);

/** Encodings other than little-endian bytes, for those who ask for one; what these refuse is a bad argument. */
const withEncodings = async <Result>(
  read: (formats: typeof import('../encodings/encodings.js')) => Result,
): Promise<Result> => {
  const formats = await import('../encodings/encodings.js').catch(notLoaded('encodings'));
  try {
    return read(formats);
  } catch (error) {
    throw badArgument((error as Error).message);
  }
};

export abstract class Front<Own extends OwnBases> {
  protected curve: CurveContext;
  readonly #queue: CallQueue;
  readonly #counts = { gpuMs: 0, retries: 0 };
  protected destroyed = false;
  readonly #bases = new WeakSet<Bases>();

  protected constructor(curve: CurveContext, queue: CallQueue) {
    this.curve = curve;
    this.#queue = queue;
  }

  abstract readonly lastRun: RunRecord | null;

  /** Buffers of scratch that were given back on its device. */
  protected abstract readonly frees: number;

  get stats(): EngineStats {
    return { ...this.#queue.stats, ...this.#counts, frees: this.frees };
  }

  /** @param bytes that are held for it while it waits */
  protected turn<Result>(
    kind: EngineEvent['kind'],
    bytes: number,
    task: (turn: CallTicket) => Promise<Result>,
    {
      priority = 'normal',
      deadline = null,
      signal,
      order,
    }: Partial<CallOptions & { order: Coalescing | undefined }> = {},
    abandon?: Abandon<Result>,
  ): Promise<Result> {
    return this.#queue.run(task, { kind, priority, deadline, bytes, signal, order }, abandon);
  }

  /** @throws MsmError `bad-argument` where bases of so many points cannot be had */
  protected abstract assertFits(points: number, tables: TableShape): void;
  protected abstract load(source: PointSource, tables: TableShape, call: Call): Promise<Own>;

  /** Has scalars where its calls find them. */
  protected abstract place(store: ScalarStore, turn: CallTicket): Promise<void>;

  /**
   * One sum for each vector.
   *
   * @param vectors with scalars in little-endian bytes
   * @param n of how many scalars, which is not 0
   * @param clock of the call, which counted nothing while earlier calls ran
   */
  protected abstract multiply(
    bases: Own,
    vectors: readonly ScalarVector[],
    n: number,
    call: Call,
    clock: CallClock,
  ): Promise<AffinePoint<Coordinate>[]>;

  /** What makes points of Edwards form of sums. */
  protected abstract originals(): Promise<(curve: CurveContext, sum: AffinePoint<Coordinate>) => AffinePoint>;

  /** What of others is worth being computed with one's own. */
  protected abstract company(own: Wanted<Own>, waiting: readonly Wanted<Own>[]): readonly Wanted<Own>[];

  /** What vectors of such lengths would take, of which none is 0. */
  protected abstract planned(bases: Own, lengths: readonly number[]): Promise<MsmPlan>;

  /** Ends all calls at once, and gives back what they hold. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.release();
    this.#queue.end(new MsmError('destroyed', 'the engine was destroyed; create a new one'));
  }

  /** Gives back what the engine holds. */
  protected abstract release(): void;

  [dispose](): void {
    this.destroy();
  }

  /** Refuses at once what can never succeed. */
  protected assertUsable(signal: AbortSignal | undefined): void {
    if (this.destroyed) throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    assertNotAborted(signal);
  }

  async loadBases(
    points: BytesLike | readonly AffinePoint<Coordinate>[],
    options: LoadBasesOptions = {},
  ): Promise<Bases> {
    const call = readCallOptions(options);
    this.assertUsable(call.signal);
    const tables = loadedTables(this.curve, readPrecompute(call));
    // before any is read, which may take long
    this.assertFits(countPoints(this.curve, points, call.encoding), tables);
    const source = await this.#readPoints(points, call.encoding);
    this.assertFits(source.bytes.length / this.curve.pointBytes, tables);
    const load = async (turn: CallTicket): Promise<Bases> => {
      const bases = await this.load(source, tables, { ...call, turn });
      this.#bases.add(bases);
      return bases;
    };
    return this.turn('loadBases', source.bytes.length, load, call, (bases) => bases.destroy());
  }

  async loadScalars(scalars: BytesLike | readonly bigint[], options: LoadScalarsOptions = {}): Promise<Scalars> {
    const call = readCallOptions(options);
    this.assertUsable(call.signal);
    const { scalarEncoding, label = 'scalars' } = call;
    const given = this.#readScalars(scalars, scalarEncoding, 'scalars');
    const load = async (turn: CallTicket): Promise<Scalars> => {
      const { scalarBytes } = this.curve;
      const n = given.length / scalarBytes;
      const [factors] = await this.#decoded([{ scalars: given, n, offset: 0, loaded: null }], scalarEncoding);
      this.assertUsable(call.signal);
      const store = new ScalarStore(this.curve, (factors as ScalarVector).scalars, label);
      await this.place(store, turn);
      return new LoadedScalars(store, scalarBytes, 0, n, false);
    };
    return this.turn('loadScalars', given.length, load, call, (loaded) => loaded.destroy());
  }

  msm(bases: Bases, scalars: GivenScalars, options?: MsmOptions): Promise<AffinePoint<Coordinate>>;
  msm(bases: Bases, scalars: GivenScalars, options: MsmOptions<PointEncoding>): Promise<Bytes>;
  async msm(
    bases: Bases,
    scalars: GivenScalars,
    options: MsmOptions<Result> = {},
  ): Promise<AffinePoint<Coordinate> | Bytes> {
    const clock = new CallClock();
    const call = readCallOptions(options);
    this.assertUsable(call.signal);
    const resident = this.#assertOurs(bases);
    const names = { scalars: 'scalars', offset: 'offset' };
    const factors = this.#readFactors(resident, scalars, call.offset, call.scalarEncoding, names);
    clock.enter(null);
    const [sum] = await this.#queued('msm', resident, [factors], call, clock);
    return sum as AffinePoint<Coordinate> | Bytes;
  }

  msmBatch(bases: Bases, scalars: Vectors, options?: MsmBatchOptions): Promise<AffinePoint<Coordinate>[]>;
  msmBatch(bases: Bases, scalars: Vectors, options: MsmBatchOptions<PointEncoding>): Promise<Bytes[]>;
  async msmBatch(
    bases: Bases,
    scalars: Vectors,
    options: MsmBatchOptions<Result> = {},
  ): Promise<(AffinePoint<Coordinate> | Bytes)[]> {
    const clock = new CallClock();
    const call = readCallOptions(options);
    this.assertUsable(call.signal);
    const resident = this.#assertOurs(bases);
    const offsets = readOffsets(call, scalars);
    const factors = itemsOf(scalars).map((vector, i) =>
      this.#readFactors(resident, vector, offsets[i], call.scalarEncoding, {
        scalars: `scalars[${i}]`,
        offset: `offsets[${i}]`,
      }),
    );
    clock.enter(null);
    return this.#queued('msmBatch', resident, factors, call, clock);
  }

  async plan(bases: Bases, n: number | readonly number[]): Promise<MsmPlan> {
    this.assertUsable(undefined);
    const own = this.#assertOurs(bases);
    const lengths: readonly unknown[] = Array.isArray(n) ? itemsOf(n) : [n];
    for (const each of lengths) {
      if (!Number.isInteger(each) || (each as number) < 0 || (each as number) > own.length) {
        throw badArgument(`n must be an integer from 0 to bases.length = ${own.length}, got ${show(each)}`);
      }
    }
    const filled = (lengths as readonly number[]).filter((each) => each > 0);
    return filled.length === 0 ? { bytes: 0, submits: 0, predicted: null } : this.planned(own, filled);
  }

  /** Computes what a call wants when it is its turn. */
  #queued(
    kind: 'msm' | 'msmBatch',
    bases: Own,
    factors: readonly ScalarVector[],
    call: CallOptions,
    clock: CallClock,
  ): Promise<(AffinePoint<Coordinate> | Bytes)[]> {
    const { scalarEncoding, result, verify, onProgress } = call;
    const wanted: Wanted<Own> = {
      ...{ bases, factors, scalarEncoding, result, verify },
      coalesced: (waiting) =>
        this.company(
          wanted,
          (waiting as readonly Wanted<Own>[]).filter((other) => other.bases === bases && other.verify === verify),
        ),
    };
    // what is told of progress is told of one call
    const order = onProgress === undefined ? wanted : undefined;
    const task = (turn: CallTicket) => this.#compute(wanted, { ...call, turn }, clock);
    return this.turn(kind, bytesOf(factors), task, { ...call, order });
  }

  /** Counts a run, once it is over. */
  protected count({ hostTimes, retried }: RunRecord): void {
    this.#counts.gpuMs += hostTimes?.submitToResultMs ?? 0;
    this.#counts.retries += Number(retried !== null);
  }

  /** @throws MsmError `bad-argument`, `destroyed` */
  #assertOurs(bases: Bases): Own {
    if (!this.#bases.has(bases)) {
      throw badArgument('bases must come from loadBases of this engine');
    }
    (bases as Own).assertAlive();
    return bases as Own;
  }

  /** A copy, not yet decoded. @throws MsmError `bad-argument` naming what is wrong by the name given */
  #readScalars(
    given: BytesLike | readonly bigint[],
    encoding: ScalarEncoding | undefined,
    name: string,
  ): Uint8Array<ArrayBuffer> {
    return isPlain(encoding)
      ? encodeScalars(this.curve, given, name)
      : encodedBytes(name, given, this.curve.scalarBytes, 'scalarEncoding');
  }

  /** @throws MsmError `bad-argument` naming what is wrong by the names given */
  #readFactors(
    bases: Own,
    given: GivenScalars,
    offset: unknown,
    encoding: ScalarEncoding | undefined,
    names: { readonly scalars: string; readonly offset: string },
  ): ScalarVector {
    const loaded = LoadedScalars.is(given) ? given : null;
    if (loaded === null && given instanceof LoadedScalars) {
      throw badArgument(`${names.scalars} must be what loadScalars returned, and not a proxy or a copy of it`);
    }
    if (loaded !== null && loaded.store.order !== this.curve.order) {
      throw badArgument(`${names.scalars} were loaded for a group of another order than ${this.curve.name}'s`);
    }
    const scalars =
      loaded?.bytes ?? this.#readScalars(given as Exclude<GivenScalars, Scalars>, encoding, names.scalars);
    const n = scalars.length / this.curve.scalarBytes;
    const first = offset === undefined ? 0 : offset;
    if (typeof first !== 'number' || !Number.isInteger(first) || first < 0 || first > bases.length) {
      throw badArgument(
        `${names.offset} must be an integer from 0 to bases.length = ${bases.length}, got ${show(offset)}`,
      );
    }
    if (n > bases.length - first) {
      throw badArgument(
        `${names.scalars}: ${n} of them, but from offset ${first} there are only ${bases.length - first} bases`,
      );
    }
    return { scalars, n, offset: first, loaded };
  }

  /** Points as the GPU and the CPU take them; a copy, made at once. */
  async #readPoints(
    points: BytesLike | readonly AffinePoint<Coordinate>[],
    encoding: PointEncoding | undefined,
  ): Promise<PointSource> {
    const source = isPlain(encoding)
      ? { bytes: encodePoints(this.curve, points), scale: 1n, encoding: 'le' as const }
      : await this.#readEncoded(encodedBytes('points', points, 1, 'encoding'), encoding);
    return this.curve.edwards === undefined ? source : { ...source, scale: 1n, edwards: { scale: source.scale } };
  }

  #readEncoded(bytes: Bytes, encoding: PointEncoding): Promise<PointSource> {
    return withEncodings(({ readPoints }) => readPoints(this.curve, bytes, encoding));
  }

  /** Scalars in little-endian bytes. */
  async #decoded(
    vectors: readonly ScalarVector[],
    encoding: ScalarEncoding | undefined,
  ): Promise<readonly ScalarVector[]> {
    if (isPlain(encoding)) return vectors;
    return withEncodings(({ readScalars }) =>
      vectors.map((vector) =>
        // loaded ones were read when they were
        vector.loaded === null ? { ...vector, scalars: readScalars(this.curve, vector.scalars, encoding) } : vector,
      ),
    );
  }

  /** What calls asked for, each as it asked; what is no encoding of the curve's is refused before, and to its own call. */
  async #compute(own: Wanted<Own>, options: Call, clock: CallClock): Promise<(AffinePoint<Coordinate> | Bytes)[]> {
    const { turn } = options;
    const outcome: { result?: (AffinePoint<Coordinate> | Bytes)[]; error?: unknown } = {};
    const fail = (error: unknown): void => {
      outcome.error = error;
    };
    const parties: Party<Own>[] = [
      {
        wanted: own,
        settle: (result) => {
          outcome.result = result;
        },
        fail,
        failTogether: fail,
      },
      ...turn.coalesced.map(({ order, settle, fail, separate }) => ({
        wanted: order as Wanted<Own>,
        ...{ settle, fail, failTogether: separate },
      })),
    ];
    await unanimously([options.signal, ...turn.coalesced.map((companion) => companion.signal)], (signal) =>
      this.#computeAll(own.bases, parties, { ...options, signal, turn: { ...turn, signal } }, clock),
    );
    if (outcome.result === undefined) throw outcome.error;
    return outcome.result;
  }

  async #computeAll(bases: Own, parties: readonly Party<Own>[], options: Call, clock: CallClock): Promise<void> {
    clock.enter('encodeMs');
    const ready: { readonly party: Party<Own>; readonly vectors: readonly ScalarVector[]; readonly write: Writer }[] =
      [];
    for (const party of parties) {
      const { factors, scalarEncoding, result } = party.wanted;
      try {
        ready.push({ party, vectors: await this.#decoded(factors, scalarEncoding), write: await this.#writer(result) });
      } catch (error) {
        party.fail(error);
      }
    }
    if (ready.length === 0) return;
    try {
      this.assertUsable(options.signal);
      bases.assertAlive();
      const vectors = ready.flatMap((each) => each.vectors);
      const n = vectors.reduce((sum, vector) => sum + vector.n, 0);
      const sums =
        n === 0
          ? vectors.map(() => publicPoint(this.curve, null))
          : await this.multiply(bases, vectors, n, options, clock);
      let at = 0;
      for (const { party, vectors: own, write } of ready) {
        party.settle(sums.slice(at, at + own.length).map(write));
        at += own.length;
      }
    } catch (error) {
      for (const { party } of ready) party.failTogether(error);
    }
  }

  /** What makes of a sum what was asked for. */
  async #writer(result: Result): Promise<Writer> {
    const { edwards } = this.curve;
    const originalOf = edwards === undefined ? null : await this.originals();
    const own: Writer = (sum) => (originalOf === null ? sum : originalOf(this.curve, sum));
    if (result === 'affine') return own;
    const write = isPlain(result)
      ? (bytes: Bytes) => bytes
      : await withEncodings(({ writerOf }) => writerOf(this.curve, result));
    return (sum) => {
      const point = own(sum) as AffinePoint<Coordinate>;
      // of Edwards form infinity is a point like others
      return write(encodePoints(this.curve, [{ ...point, infinity: point.infinity && edwards === undefined }]));
    };
  }
}
