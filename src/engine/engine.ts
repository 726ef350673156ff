import type { Priority } from '../api/calls.js';
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../api/device.js';
import type { MsmEngine, MsmPlan } from '../api/engine.js';
import type { RunRecord } from '../api/run-record.js';
import type { Sharing } from '../api/sharing.js';
import type { Tuning } from '../api/tuning.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { type CurveContext, withProduct } from '../curves/curve.js';
import type { Group, NamedCurve } from '../curves/names.js';
import { openCurve } from '../curves/open-curve.js';
import type { PointSource } from '../curves/point-source.js';
import { badArgument, GpuFault, MsmError, NoAnswerError, NoRoom, show } from '../errors.js';
import { kernelsOf } from '../gpu/commands.js';
import { type OpenDevice, openDevice } from '../gpu/device.js';
import { compileTimes } from '../gpu/pipelines.js';
import type { Runner } from '../gpu/runner.js';
import type { WorkerOptions } from '../msm/cpu/threads.js';
import type { VectorJobs } from '../msm/gpu/evaluate.js';
import type { Loaded } from '../msm/gpu/load.js';
import type { LoadContext } from '../msm/gpu/load-context.js';
import { recordJob } from '../msm/gpu/record.js';
import type { ScalarStore } from '../msm/loaded-scalars.js';
import { dot4Refusal, productFor } from '../msm/plan/chips.js';
import { fieldProductOf } from '../msm/plan/device-defaults.js';
import { learnedRate, safeRate } from '../msm/plan/pace.js';
import type { Plan, PlanLimits } from '../msm/plan/planner.js';
import { type Batch, type Job, schedule, type VectorShape } from '../msm/plan/schedule.js';
import type { Knobs } from '../msm/plan/tuning.js';
import { fullWorkload, type TableShape, type Workload } from '../msm/plan/workload.js';
import { ResidentBases } from '../msm/resident-bases.js';
import type { Done, RoutedCall, RoutedPlace, Router } from '../msm/routing/router.js';
import { type ScalarVector, type SurveyedScalars, surveyScalars } from '../msm/scalar-vectors.js';
import { createKernels, type Kernels } from '../msm/stages/kernels.js';
import { ownOptions } from '../own-options.js';
import type { CallTicket } from '../scheduling/call-queue.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import type { CallClock } from '../session/clock.js';
import { DeviceSource } from '../session/device-source.js';
import { Front, type Wanted } from './front.js';
import type { Call } from './input.js';
import { loadLater } from './load-later.js';
import type { EngineKnobs, MsmEngineOptions, ReadOptions } from './options.js';

const LARGEST_WARMUP = 2 ** 16;

/** Calls that are under way at a time: one that the GPU computes, and the next one, which is made ready meanwhile. */
const WIDTH = 2;

/** Devices that a call may see go before anything of it has begun. */
const MOST_DEVICES = 3;

/** Devices in a row that stopped answering, after which an engine that may computes on the CPU alone. */
const MOST_SILENT = 2;

/** Times that a call is planned again, at most. */
const MOST_PLANS = 20;

/** What is left of a call's attempts. */
interface Attempts {
  left: number;
  /** Why there was more than one. */
  retried: string | null;
}

type GpuArguments = Parameters<RoutedCall['onGpu']>;

/** The plan of the first job. */
const planOf = (jobs: readonly Job[]): Plan => ((jobs[0] as Job).batches[0] as Batch).plan;

/** Knobs for a device on which the others compute wrongly: integers that every GPU has, where they are not what failed. */
const simplerThan = (product: Tuning['fieldProduct']): Pick<Knobs, 'fieldProduct' | 'walkerPrefixMemory'> => ({
  fieldProduct: product === 'unsigned' ? 'signed' : 'unsigned',
  walkerPrefixMemory: 'private',
});

class GpuEngine extends Front<ResidentBases> implements MsmEngine<Coordinate> {
  #kernels: Kernels;
  readonly #source: DeviceSource;
  readonly #runnerFor: ReadOptions['runnerFor'];
  readonly #wanted: EngineKnobs;
  readonly #selfTests: boolean;
  readonly #retainBases: boolean;
  readonly #retries: number;
  readonly #verify: number;
  readonly #workers: WorkerOptions;
  readonly #sharing: Required<Sharing>;
  readonly #backend: ReadOptions['backend'];
  #router: Router | null = null;
  #open: OpenDevice;
  #runner: Runner;
  /** Those of calls that warm up. */
  readonly #apart = new Set<Runner>();
  /** The runner whose kernels are compiled, and the one for which that was begun for a trial. */
  #ready: Runner | null = null;
  #preparing: Runner | null = null;
  /** A runner whose loss some call has failed of. */
  #blamed: Runner | null = null;
  #tuning: EngineKnobs;
  #selfTest: SelfTest | null = null;
  /** What was tested on the runner: with tables, or without. */
  readonly #tested = new Set<boolean>();
  /** Scalars that are to be on its device. */
  readonly #placed = new WeakSet<ScalarStore>();
  #lastRun: RunRecord | null = null;
  #additionsPerMs: number | null = null;
  /** Devices in a row before this one that stopped answering. */
  #silent = 0;
  /** The peak on devices that were lost. */
  #peakOfLost = 0;
  #freesOfLost = 0;

  constructor(curve: CurveContext, open: OpenDevice, options: ReadOptions & { readonly source: DeviceSource }) {
    super(curve, options.queueOf(WIDTH));
    this.#source = options.source;
    this.#runnerFor = options.runnerFor;
    this.#tuning = this.#wanted = options.tuning;
    this.#selfTests = options.selfTests;
    this.#retainBases = options.retainBases;
    this.#retries = options.retries;
    this.#verify = options.verify;
    this.#workers = options.workers;
    this.#sharing = options.sharing;
    this.#backend = options.backend;
    this.#open = open;
    [this.curve, this.#kernels] = this.#arithmetic(curve);
    this.#runner = this.#runnerOn(open);
  }

  get adapter(): AdapterDescription {
    return this.#open.adapter;
  }

  get backends(): readonly ('gpu' | 'cpu')[] {
    if (this.#isWithoutGpu) return ['cpu'];
    return this.#tuning.cpuBelow === 0 ? ['gpu'] : ['gpu', 'cpu'];
  }

  /** Bytes, for adapters of provers. */
  get maxBufferSize(): number {
    return this.#open.device.limits.maxBufferSize;
  }

  get pipelines(): readonly CompileTime[] {
    return compileTimes(this.#open.device);
  }

  get memory(): MemoryUse {
    const { peak, ...now } = this.#runner.ledger.memory;
    return { ...now, peak: Math.max(peak, this.#peakOfLost) };
  }

  get lastRun(): RunRecord | null {
    return this.#lastRun;
  }

  protected get frees(): number {
    return this.#freesOfLost + this.#runner.frees;
  }

  get selfTest(): SelfTest | null {
    return this.#selfTest;
  }

  async warmup(n: number): Promise<void> {
    this.assertUsable(undefined);
    if (!Number.isInteger(n) || n < 1) throw badArgument(`n must be a positive integer, got ${show(n)}`);
    await this.#warmUp(n, 'normal');
  }

  /** Compiles once for a device, behind all calls; what goes wrong with it is nobody's. */
  #prepare(n: number): void {
    if (this.#preparing === this.#runner) return;
    this.#preparing = this.#runner;
    this.#warmUp(n, 'background').catch(() => undefined);
  }

  async #warmUp(n: number, priority: Priority): Promise<void> {
    const warm = async (turn: CallTicket): Promise<void> => {
      if (this.#isWithoutGpu) {
        await (await loadLater()).withAdder(this.curve, async () => undefined);
        return;
      }
      const runner = await this.#liveRunner(turn);
      // larger ones run the same kernels more often
      const load = fullWorkload(Math.min(n, LARGEST_WARMUP), this.curve);
      const commands = this.#scheduled([{ load, offset: 0, indices: null }]).flatMap((job) =>
        recordJob(this.#kernels, job, () => ({ buffer: 'bases' }), this.#tuning.checks),
      );
      const later = await loadLater();
      // with buffers of its own, so that it keeps none
      const apart = this.#runnerOn(this.#open);
      this.#apart.add(apart);
      try {
        const kernels = [this.#kernels.digest(), this.#kernels.importPoints(), ...kernelsOf(commands)];
        await later.compileAndDispatch(runner, apart, kernels, () => runner.assertAlive());
      } catch (error) {
        runner.assertAlive(error);
        throw error;
      } finally {
        this.#apart.delete(apart);
        apart.destroy();
      }
      this.#ready = await this.#testedRunner(false, turn);
      if (this.backends.includes('cpu')) await later.withAdder(this.curve, async () => undefined);
    };
    await this.turn('warmup', 0, warm, { priority });
  }

  async trim(): Promise<void> {
    this.assertUsable(undefined);
    this.#router?.trim();
    if (!this.#isWithoutGpu) await this.#runner.trim();
  }

  protected release(): void {
    this.#router?.destroy();
    this.#runner.destroy();
    for (const each of this.#apart) each.destroy();
    this.#source.leave();
  }

  /** The loss of a device of our own is nothing that can never be mended. */
  protected override assertUsable(signal: AbortSignal | undefined): void {
    if (!this.destroyed && !this.#open.owned && !this.#isWithoutGpu) this.#runner.assertAlive();
    super.assertUsable(signal);
  }

  /** Whether calls may go on on the CPU when a GPU stops answering. */
  get #mayUseCpu(): boolean {
    return this.#backend === 'both' || (this.#backend === 'auto' && this.#tuning.cpuBelow !== 0);
  }

  /** Whether the engine has given up on GPUs: a caller's stopped answering, or several of its own in a row. */
  get #isWithoutGpu(): boolean {
    if (!this.#mayUseCpu || !this.#runner.isSilent) return false;
    return !this.#open.owned || this.#silent + 1 >= MOST_SILENT;
  }

  protected async originals() {
    return (await loadLater()).originalOf;
  }

  protected assertFits(points: number, { count }: TableShape): void {
    const { maxBufferSize } = this.#runner.device.limits;
    const each = this.curve.pointBytes * count;
    if (points * each <= maxBufferSize) return;
    const most = Math.floor(maxBufferSize / each);
    const less = count === 1 ? '' : `precompute less (each point is kept ${count} times), `;
    throw badArgument(
      `points: ${points * each} bytes are more than the ${maxBufferSize} that one buffer of the device holds: ${most} of these ${points} points fit. To go on, ${less}load at most ${most} at a time and add up the sums, or take backend 'cpu', which has no such limit ('auto' and 'both' keep bases on the device)`,
    );
  }

  /** The curve as the device computes on it, and the kernels that do. */
  #arithmetic(curve: CurveContext): [CurveContext, Kernels] {
    const { checks } = this.#tuning;
    const product = fieldProductOf(this.#planLimits(), this.#tuning);
    const refusal = product === 'dot4' ? dot4Refusal(curve, this.adapter.software, checks !== undefined) : null;
    if (refusal !== null) throw badArgument(refusal);
    const own = withProduct(curve, product);
    return [own, createKernels(own, checks)];
  }

  #runnerOn({ device, owned }: OpenDevice): Runner {
    const again = this.#retainBases ? 'call again' : 'as retainBases is false, load the bases again';
    const afterLoss = owned
      ? `${again}, and the engine gets itself a new one`
      : 'it was yours: request another, and create a new engine on it';
    return this.#runnerFor(device, afterLoss);
  }

  /** The runner to work on: that of a new device, if the engine's own was lost since the last call. */
  async #liveRunner(turn: CallTicket): Promise<Runner> {
    const isGone = (): boolean => this.#runner.isLost && this.#open.owned;
    if (isGone()) await turn.exclusive(async () => isGone() && this.#replace(), turn.signal);
    this.#runner.assertAlive();
    return this.#runner;
  }

  /** Goes on on another device. */
  async #replace(): Promise<void> {
    if (this.#runner.isSilent) this.#silent++;
    const open = await this.#source.after(this.#open);
    if (this.destroyed) throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    this.#selfTest = null;
    this.#begin(open, this.#wanted);
  }

  /** Everything anew; bases that are on the runner of before are loaded again when they are needed. */
  #begin(open: OpenDevice, tuning: EngineKnobs): void {
    this.#peakOfLost = this.memory.peak;
    if (open !== this.#open) this.#freesOfLost = this.frees;
    this.#runner.destroy();
    this.#open = open;
    this.#tuning = tuning;
    [this.curve, this.#kernels] = this.#arithmetic(this.curve);
    this.#additionsPerMs = null;
    this.#runner = this.#runnerOn(open);
    this.#tested.clear();
  }

  /**
   * The runner to work on, whose pipelines computed what is known rightly: after a failure with other products, and what else may be simpler.
   *
   * @throws MsmError `internal` where these failed, too
   */
  async #testedRunner(tables: boolean, turn: CallTicket): Promise<Runner> {
    for (;;) {
      const runner = await this.#liveRunner(turn);
      const isTested = (): boolean => !this.#selfTests || this.#tested.has(tables);
      if (isTested()) return runner;
      await turn.exclusive(async () => isTested() || this.#test(tables, turn.signal), turn.signal);
    }
  }

  async #test(tables: boolean, signal: AbortSignal | undefined): Promise<void> {
    const begun = performance.now();
    const { selfTest } = await loadLater();
    const runner = this.#runner;
    const tested = { ...this.#loadContext(), limits: this.#planLimits(), budget: runner.room.bytes, tables };
    const wrong = await selfTest(runner, { ...tested, tuning: this.#tuning }, () => this.assertUsable(signal));
    const { product } = this.curve.field;
    const { failed = null, ms = 0 } = this.#selfTest ?? {};
    this.#selfTest = {
      product: wrong === null ? product : null,
      failed: failed ?? (wrong === null ? null : `with ${product} products: ${wrong}`),
      ms: ms + performance.now() - begun,
    };
    if (wrong === null) this.#tested.add(tables);
    else if (failed === null) this.#begin(this.#open, { ...this.#tuning, ...simplerThan(product) });
    else throw new MsmError('internal', `what is known comes out wrong on this device, ${failed}; ${wrong}`);
  }

  /** Where the bases are on the runner's device; loads them again if the device that they were on is gone, or if they are not what they were. */
  async #residentBuffer(runner: Runner, bases: ResidentBases, turn: CallTicket): Promise<GPUBuffer> {
    const loaded = bases.on(runner);
    if (loaded !== null) {
      const look = async (): Promise<boolean> =>
        (await loadLater()).areAsLoaded(runner, this.#loadContext(), loaded, turn);
      if (!bases.isSuspect || (await bases.clear(look))) return loaded.buffer;
    }
    await turn.exclusive(async () => bases.on(runner) !== loaded || this.#reload(runner, bases, turn), turn.signal);
    return (bases.on(runner) as Loaded).buffer;
  }

  async #reload(runner: Runner, bases: ResidentBases, turn: CallTicket): Promise<void> {
    // another call may have gone on to another device
    if (runner !== this.#runner) turn.onRefused?.();
    runner.assertAlive();
    const loaded = bases.on(runner);
    if (bases.source === null) {
      const [code, what] =
        loaded === null
          ? (['device-lost', 'were lost with their device'] as const)
          : (['internal', 'are no longer what was loaded'] as const);
      throw new MsmError(code, `the bases '${bases.label}' ${what}, and retainBases is false; load them again`);
    }
    const reloaded = await this.#upload(runner, bases.source, bases.tables, { label: bases.label });
    try {
      bases.assertAlive(); // they may have been destroyed meanwhile
    } catch (error) {
      runner.ledger.destroy(reloaded.buffer);
      throw error;
    }
    bases.moveTo(runner, reloaded);
  }

  /** Does again what the GPU got wrong, as often as the call may; `repair` comes before. */
  async #attempt<Result>(
    call: Attempts,
    work: () => Promise<Result>,
    repair?: (fault: GpuFault) => void,
  ): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof GpuFault)) throw error;
        repair?.(error);
        if (call.left === 0) throw error;
        call.left--;
        call.retried ??= error.message;
      }
    }
  }

  protected load(source: PointSource, tables: TableShape, call: Call): Promise<ResidentBases> {
    return this.#admitted(
      call,
      (admitted) => this.#load(source, tables, admitted),
      (admitted) => this.#loadOnCpu(source, tables, admitted),
    );
  }

  /** Bases that are brought to a GPU when one computes with them. */
  async #loadOnCpu(source: PointSource, tables: TableShape, call: Call): Promise<ResidentBases> {
    const { loadOnCpu } = await loadLater();
    const { threads } = await this.#routerOf();
    const checked = await loadOnCpu(this.curve, source, threads, call, () => this.assertUsable(call.signal));
    const length = source.bytes.length / this.curve.pointBytes;
    return new ResidentBases(length, call.label ?? 'bases', tables, checked, null);
  }

  async #load(source: PointSource, tables: TableShape, options: Call): Promise<ResidentBases> {
    const { turn, signal } = options;
    this.assertUsable(signal);
    // with their source at hand they can be loaded again, if products turn out to be wrong
    const runner = await (this.#retainBases ? this.#liveRunner(turn) : this.#testedRunner(tables.count > 1, turn));
    const loaded = await this.#attempt(this.#attempts(), () => this.#upload(runner, source, tables, options));
    const length = source.bytes.length / this.curve.pointBytes;
    const kept = this.#retainBases ? source : null;
    return new ResidentBases(length, options.label ?? 'bases', tables, kept, { runner, loaded });
  }

  protected async place(store: ScalarStore, turn: CallTicket): Promise<void> {
    if (this.#isWithoutGpu) return;
    try {
      await this.#place(store, await this.#liveRunner(turn), turn.signal);
    } catch (error) {
      // they are uploaded with each call that a GPU computes
      if (!this.#isSilence(error)) throw error;
    }
  }

  async #place(store: ScalarStore, runner: Runner, signal: AbortSignal | undefined): Promise<void> {
    const { maxBufferSize } = runner.device.limits;
    this.#placed.add(store);
    // what no buffer holds is uploaded piece by piece, for each call
    if (store.bytes.length <= maxBufferSize) await store.place(runner, () => this.assertUsable(signal));
  }

  async #upload(
    runner: Runner,
    source: PointSource,
    tables: TableShape,
    { label = 'bases', checkSubgroup = false, signal, onProgress, turn }: Partial<Call>,
  ): Promise<Loaded> {
    const { loadPoints } = await loadLater();
    const checkpoint = () => this.assertUsable(signal);
    const own = { source, tables, label, budget: runner.room.bytes, ...(turn && { turn }) };
    return loadPoints(runner, this.#loadContext(), { ...own, checkSubgroup, checkpoint, onProgress });
  }

  #loadContext(): LoadContext {
    return {
      curve: this.curve,
      kernels: this.#kernels,
      limits: this.#planLimits(),
      tuning: this.#tuning,
      additionsPerMs: this.#safeRate,
    };
  }

  get #safeRate(): number {
    return safeRate(this.curve, this.adapter, this.#additionsPerMs);
  }

  #attempts(): Attempts {
    return { left: this.#retries, retried: null };
  }

  #survey(bases: ResidentBases, vectors: readonly ScalarVector[]): SurveyedScalars[] {
    // the checks look bases up in a row; and those of a chunk have to be bound together, however far apart
    const { maxStorageBufferBindingSize } = this.#runner.device.limits;
    const picks = this.#tuning.checks === undefined && bases.byteLength <= maxStorageBufferBindingSize;
    return vectors.map((vector) => surveyScalars(this.curve, vector, bases.tables, picks));
  }

  protected async multiply(
    bases: ResidentBases,
    vectors: readonly ScalarVector[],
    n: number,
    call: Call,
    clock: CallClock,
  ): Promise<AffinePoint<Coordinate>[]> {
    const router = await this.#routerOf();
    // waiting for others is no part of what it takes
    const exclusive: CallTicket['exclusive'] = async (work, signal) => {
      clock.enter(null);
      const begin = (): ReturnType<typeof work> => {
        clock.enter('encodeMs');
        return work();
      };
      return call.turn.exclusive(begin, signal);
    };
    const watched: Call = { ...call, turn: { ...call.turn, exclusive } };
    const routed = (options: Call) => ({
      ...this.#routed(bases),
      ...{ vectors, n, options, clock },
      survey: (own: readonly ScalarVector[]) => this.#survey(bases, own),
      onGpu: (...own: GpuArguments) => this.#inTheRoom(() => this.#multiplyOnGpu(bases, ...own)),
      compiled: () => this.pipelines.length,
      compile: () => this.#prepare(n),
      isBusy: () => this.#runner.isBusyFor(options.turn),
      checkpoint: () => {
        this.assertUsable(options.signal);
        bases.assertAlive();
      },
    });
    const { sums, record } = await this.#admitted(
      watched,
      (options) => router.multiply(routed(options)),
      bases.source === null ? undefined : (options, why) => router.multiplyOnCpu(routed(options), why),
    );
    this.#lastRun = record;
    this.count(record);
    return [...sums];
  }

  /** Plans and does again what does not fit, as others have loaded meanwhile what stays in the room that it was planned for. */
  async #inTheRoom<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let left = MOST_PLANS; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NoRoom) || left === 0) throw error;
      }
    }
  }

  /** Whether a call failed because the GPU stopped answering, and may go on on the CPU. */
  #isSilence(error: unknown): boolean {
    return this.#mayUseCpu && error instanceof NoAnswerError;
  }

  /**
   * Does the work of a call. Of those that were under way when a device of the engine's own was lost, the first fails, as its work may be why. Others
   * begin again, on the next device.
   *
   * @param onCpu does it on the CPU, if the GPU stops answering; told why
   */
  async #admitted<Result>(
    call: Call,
    work: (call: Call) => Promise<Result>,
    onCpu?: (call: Call, why: string | null) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isWithoutGpu && onCpu !== undefined) return onCpu(call, null);
    for (let left = MOST_DEVICES; ; left--) {
      let [hasBegun, wasRefused] = [false, false];
      const turn: CallTicket = {
        ...call.turn,
        onBegun: () => {
          hasBegun = true;
        },
        onRefused: () => {
          wasRefused = true;
        },
      };
      try {
        return await work({ ...call, turn });
      } catch (error) {
        if (onCpu !== undefined && !this.destroyed && this.#isSilence(error)) {
          return onCpu(call, (error as NoAnswerError).message);
        }
        const isLoss = error instanceof MsmError && (error.code === 'device-lost' || wasRefused);
        if (!isLoss || left === 0 || this.destroyed || !this.#open.owned) throw error;
        const isBehind = error instanceof NoAnswerError && !error.isStuck;
        const isInnocent = isBehind || (wasRefused && !hasBegun) || this.#blamed === this.#runner;
        if (!isInnocent) {
          this.#blamed = this.#runner;
          throw error;
        }
      }
    }
  }

  protected company(
    own: Wanted<ResidentBases>,
    waiting: readonly Wanted<ResidentBases>[],
  ): readonly Wanted<ResidentBases>[] {
    const router = this.#router;
    // the checks look at one sum at a time
    if (!this.#sharing.merge || router === null || this.#tuning.checks !== undefined) return [];
    const loadsOf = ({ factors }: Wanted<ResidentBases>) =>
      factors.filter(({ n }) => n > 0).map(({ n }) => fullWorkload(n, this.curve, own.bases.tables));
    const chosen = router.company(this.#routed(own.bases), loadsOf(own), waiting.map(loadsOf));
    return chosen.map((i) => waiting[i] as Wanted<ResidentBases>);
  }

  protected async planned(bases: ResidentBases, lengths: readonly number[]): Promise<MsmPlan> {
    const loadOf = (n: number) => fullWorkload(n, this.curve, bases.tables);
    const loads = lengths.map(loadOf);
    const jobsOf = (some: readonly Workload[], tuning?: Knobs): readonly Job[] =>
      this.#scheduled(
        some.map((load) => ({ load, offset: 0, indices: null })),
        tuning,
      );
    const jobs = jobsOf(loads);
    let most = jobs;
    if (this.#verify > 0) {
      // of what verifies, no vector is longer than the longest, where all begin with the same base
      const longest = loadOf(Math.max(...lengths));
      const { otherwise } = await loadLater();
      const again = otherwise(planOf(jobs), (tuning) => ({ vectors: [], jobs: jobsOf([longest], tuning) }));
      most = [...jobs, ...again.jobs];
    }
    return {
      bytes: most.reduce((peak, { peakBytes }) => Math.max(peak, peakBytes), 0),
      submits: jobs.reduce((sum, { submits }) => sum + submits, 0),
      predicted: (await this.#routerOf()).predict(this.#routed(bases), loads),
    };
  }

  /** What would be computed together, on its device and in the room that it has now. */
  #scheduled(vectors: readonly VectorShape[], tuning: Knobs = {}): readonly Job[] {
    const { bytes, name } = this.#runner.room;
    return schedule(vectors, this.curve, this.#planLimits(), bytes, { ...this.#tuning, ...tuning }, name);
  }

  async #routerOf(): Promise<Router> {
    const { Router } = await loadLater();
    this.#router ??= new Router(this.#backend === 'both', this.#workers, this.#sharing);
    return this.#router;
  }

  /** What goes into a decision who computes, beside the scalars. */
  #routed({ source }: ResidentBases): RoutedPlace {
    const isReady = this.#ready === this.#runner;
    return {
      curve: this.curve,
      tuning: this.#tuning,
      adapter: this.adapter,
      source,
      limits: this.#planLimits(),
      isReady,
    };
  }

  async #multiplyOnGpu(
    bases: ResidentBases,
    vectors: readonly ScalarVector[],
    surveyed: readonly SurveyedScalars[],
    options: Call,
    clock: CallClock,
  ): Promise<Done> {
    const { turn } = options;
    const surveyedOn = this.#runner;
    const runner = await this.#testedRunner(bases.tables.count > 1, turn);
    const attempts = this.#attempts();
    const resident = (): Promise<GPUBuffer> => {
      bases.assertAlive();
      return this.#attempt(attempts, () => this.#residentBuffer(runner, bases, turn));
    };
    await resident();
    // after the loss of a device, or where they were not what they should be
    for (const { loaded } of vectors) {
      const isAway = (): boolean => loaded !== null && loaded.store.on(runner.device) === null;
      if (loaded !== null && this.#placed.has(loaded.store) && isAway())
        await turn.exclusive(async () => isAway() && this.#place(loaded.store, runner, turn.signal), turn.signal);
    }
    this.assertUsable(options.signal);
    const work = (vectors: readonly SurveyedScalars[], tuning?: Knobs): VectorJobs => ({
      vectors,
      jobs: this.#scheduled(vectors, tuning),
    });
    // on the device that there is now
    const wanted = work(runner === surveyedOn ? surveyed : this.#survey(bases, vectors));
    const plan = planOf(wanted.jobs);
    // bases destroyed meanwhile stop no call whose commands need them no more
    const checkpoint = (): void => this.assertUsable(options.signal);
    const verified = Math.random() < (options.verify ?? this.#verify);
    const later = await loadLater();
    const check = verified ? await later.drawCheck(this.curve, vectors, bases.source, new TimeSlice(checkpoint)) : null;
    const again = this.#survey(bases, check?.vectors ?? []).map((vector) =>
      later.otherwise(plan, (tuning) => work([vector], tuning)),
    );
    const allSubmits = [wanted, ...again].reduce((sum, each) => sum + later.submitsOf(each), 0);
    const tick = (done: number): void => {
      checkpoint();
      clock.leaveOut(() => options.onProgress?.({ phase: 'msm', done, total: allSubmits }));
    };
    const compute = async () => {
      const buffer = await resident();
      const { checks } = this.#tuning;
      const own = { curve: this.curve, kernels: this.#kernels, checks, additionsPerMs: this.#safeRate };
      const context = { ...own, bases: buffer, clock, turn, checkpoint };
      const evaluation = await later.evaluate(runner, context, wanted, tick);
      const { hostTimes } = clock.read();
      if (check !== null) {
        // what is kept serves other windows badly, and would be held beside theirs, which is more than was promised
        runner.discard();
        let before = later.submitsOf(wanted);
        const others: AffinePoint<Coordinate>[] = [];
        for (const each of again) {
          const { sums } = await later.evaluate(runner, context, each, (done) => tick(before + done));
          others.push(sums[0] as AffinePoint<Coordinate>);
          before += later.submitsOf(each);
        }
        runner.discard();
        await check.assertAgree(evaluation.sums, others);
        // bases that were written over would be wrong in both
        bases.suspect();
        if ((await resident()) !== buffer) throw new GpuFault('verify', 'the bases were no longer what was loaded');
      }
      return { ...evaluation, hostTimes };
    };
    const { sums, outcomes, hostTimes } = await this.#attempt(attempts, compute, () => {
      bases.suspect();
      for (const { loaded } of vectors) loaded?.store.leave();
      runner.discard();
    }).catch((error: unknown) => {
      // that WebGPU refuses a command is no riddle if the bases were destroyed meanwhile
      if (error instanceof MsmError && error.code === 'internal') bases.assertAlive();
      throw error;
    });
    this.#silent = 0;
    tick(allSubmits);
    checkpoint();
    const sumOf = (what: 'entries' | 'dispatches' | 'submits' | 'combineMs'): number =>
      outcomes.reduce((sum, outcome) => sum + outcome[what], 0);
    const timeline = later.timelineOf(outcomes, hostTimes.submitToResultMs);
    const phases = timeline && later.phasesOf(timeline, sumOf('combineMs'));
    const walkMs = phases?.find(({ name }) => name === 'walk')?.ms;
    const entries = sumOf('entries');
    // no time at all is none that was measured
    this.#additionsPerMs = learnedRate(this.#additionsPerMs, entries, walkMs || hostTimes.submitToResultMs);
    const record: RunRecord = {
      on: 'gpu',
      gpuShare: 1,
      arithmetic: null,
      workers: 0,
      noWorkers: null,
      n: vectors.reduce((sum, vector) => sum + vector.n, 0),
      vectors: vectors.length,
      windowBits: plan.tuning.windowBits,
      windows: plan.blocks * plan.vectorWindows,
      tasks: plan.levelTasks[0] as number,
      entries,
      dispatches: sumOf('dispatches'),
      submits: sumOf('submits'),
      ...clock.read(),
      retried: attempts.retried,
      fallback: this.#selfTest?.failed ?? null,
      verified,
      phases,
      timeline,
      tuning: plan.tuning,
      adapter: this.adapter,
      predicted: null,
    };
    return { sums, record };
  }

  #planLimits(): PlanLimits {
    const { device, adapter } = this.#open;
    const { limits } = device;
    return {
      software: adapter.software,
      product: productFor(adapter, this.#open.hasDot4),
      additionsPerMs: this.#additionsPerMs,
      maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
      maxBufferSize: limits.maxBufferSize,
      maxComputeInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX: limits.maxComputeWorkgroupSizeX,
      maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
    };
  }
}

/** Where engines have their devices from; those of the CPU have none. */
const sources = new WeakMap<object, DeviceSource>();

/** Of what is no object, itself: it is refused later. */
const copyOf = <Given>(given: Given): Given =>
  typeof given === 'object' && given !== null ? (ownOptions(given) as Given) : given;

/**
 * Makes an engine that computes multi-scalar multiplications in one group of a curve: on one GPU device, or without WebGPU on the CPU.
 *
 * @throws MsmError `bad-argument` (an option is wrong; the message names it); with `backend: 'gpu'` also `no-webgpu`, `unsupported-device`
 */
export function createMsmEngine(options: MsmEngineOptions): Promise<MsmEngine>;
export function createMsmEngine(options: MsmEngineOptions<Fp2>): Promise<MsmEngine<Fp2>>;
export async function createMsmEngine(
  options: MsmEngineOptions | MsmEngineOptions<Fp2>,
): Promise<MsmEngine<Coordinate>> {
  if (typeof options !== 'object' || options === null) throw badArgument('options must be an object with a `curve`');
  // read at once: what becomes of the objects afterwards does not matter
  const own = ownOptions<MsmEngineOptions<Coordinate>>(options);
  const { curve: wanted, group, device, gpu, powerPreference, deviceOf } = own;
  if (deviceOf !== undefined && !(deviceOf instanceof Front)) {
    throw badArgument(`deviceOf must be an engine of createMsmEngine, got ${show(deviceOf)}`);
  }
  const { maxQueued, sharing, tuning, calibration } = own;
  const told = {
    ...own,
    ...{ maxQueued: copyOf(maxQueued), sharing: copyOf(sharing) },
    ...{ tuning: copyOf(tuning), calibration: copyOf(calibration) },
  };
  const [curve, later] = await Promise.all([
    openCurve(wanted as NamedCurve, group as Group | undefined, loadLater),
    loadLater(),
  ]);
  const settings = later.readOptions(told);
  // It also keeps `gpu` reachable while a call is pending: Dawn in Node crashes if it is collected meanwhile.
  const another = (): DeviceSource => new DeviceSource((again) => openDevice({ device, gpu, powerPreference }, again));
  const source = (deviceOf && sources.get(deviceOf)) ?? another();
  const onCpu = (): MsmEngine<Coordinate> => new later.CpuEngine(curve, settings);
  if (settings.backend === 'cpu') return onCpu();
  let opened: OpenDevice;
  try {
    opened = await source.join();
  } catch (error) {
    const isWithout = error instanceof MsmError && (error.code === 'no-webgpu' || error.code === 'unsupported-device');
    if (settings.backend === 'gpu' || !isWithout) throw error;
    return onCpu();
  }
  try {
    const engine = new GpuEngine(curve, opened, { ...settings, source });
    sources.set(engine, source);
    return engine;
  } catch (error) {
    source.leave();
    throw error;
  }
}
