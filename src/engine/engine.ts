import type {
  AdapterDescription,
  AffinePoint,
  Bases,
  BytesLike,
  Calibration,
  CompileTime,
  LoadBasesOptions,
  MemoryUse,
  MsmBatchOptions,
  MsmEngine,
  MsmOptions,
  RunRecord,
  Tuning,
} from '../api.js';
import { multiplyOnCpu } from '../cpu/multiply.js';
import type { Curve, CurveContext } from '../curves/curve.js';
import { addAffine, infinity, type Jacobian, toAffine } from '../curves/jacobian.js';
import type { NamedCurve } from '../curves/named.js';
import { openCurve } from '../curves/open-curve.js';
import { assertNotAborted, badArgument, MsmError, show } from '../errors.js';
import { kernelsOf } from '../gpu/commands.js';
import { hasSlowShifts, type OpenDevice, openDevice } from '../gpu/device.js';
import { compileAndDispatch } from '../gpu/first-dispatch.js';
import { compileTimes } from '../gpu/pipelines.js';
import { Runner } from '../gpu/runner.js';
import { cpuBelowOf, fieldCarryOf } from '../plan/device-defaults.js';
import { learnedRate } from '../plan/pace.js';
import type { PlanLimits } from '../plan/planner.js';
import { type Job, type Part, schedule } from '../plan/schedule.js';
import { type SurveyedVector, survey } from '../plan/survey.js';
import { checkTuning, given, resolveTuning } from '../plan/tuning.js';
import { fullWorkload, loadedTables, type TableShape } from '../plan/workload.js';
import { recordJob } from '../record/record.js';
import { publicPoint } from '../stages/fold.js';
import { createKernels, type Kernels } from '../stages/kernels.js';
import { HostClock } from './clock.js';
import {
  type CallOptions,
  encodePoints,
  encodeScalars,
  readCallOptions,
  readOffsets,
  readPrecompute,
} from './input.js';
import { loadPoints } from './load.js';
import { SerialQueue } from './queue.js';
import { dispose, ResidentBases } from './resident-bases.js';
import { type JobContext, type JobOutcome, runJob } from './run-job.js';
import { phasesOf, timelineOf } from './timeline.js';

/** Options of `createMsmEngine`. */
export interface MsmEngineOptions {
  /** A name, or the constants of a curve of your own. */
  readonly curve: NamedCurve | Curve;
  /** A device of yours; it is used as it is and never destroyed. Default: the engine requests one. */
  readonly device?: GPUDevice;
  /** WebGPU where there is no `navigator.gpu`: in Node, the object that Dawn's `create` returned. */
  readonly gpu?: GPU;
  /** Which adapter to request. Default `high-performance`. */
  readonly powerPreference?: GPUPowerPreference;
  /** The most bytes of scratch (not counting bases) that an MSM may hold; larger ones run in chunks. Default 256 MiB. */
  readonly memoryBudget?: number;
  /** What `calibrate` found on this device, or on another of the same adapter: better defaults. */
  readonly calibration?: Calibration;
  /** Knobs to set by hand; see `Tuning`. They go before those of the calibration. */
  readonly tuning?: Partial<Tuning>;
  /**
   * Keep a copy of the points of `loadBases` in main memory, so that bases survive the loss of a device that the engine
   * requested itself. Default true; with false they must be loaded again after a loss (the error says so).
   */
  readonly retainBases?: boolean;
}

const DEFAULT_BUDGET = 256 * 2 ** 20;

/** What a vector more costs the CPU, in scalars: the doublings between its windows. */
const CPU_VECTOR_COST = 16;

const LARGEST_WARMUP = 2 ** 16;

/** What is multiplied: scalar i of a vector with base `offset + i`. */
interface Factors {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly n: number;
  readonly offset: number;
}

class Engine implements MsmEngine {
  readonly #curve: CurveContext;
  readonly #kernels: Kernels;
  readonly #reopen: () => Promise<OpenDevice>;
  readonly #budget: number;
  readonly #tuning: Partial<Tuning>;
  readonly #retainBases: boolean;
  readonly #queue = new SerialQueue();
  readonly #bases = new WeakSet<Bases>();
  #open: OpenDevice;
  #runner: Runner;
  #lastRun: RunRecord | null = null;
  #additionsPerMs: number | null = null;
  /** The peak on devices that were lost. */
  #peakOfLost = 0;
  #destroyed = false;

  constructor(
    curve: CurveContext,
    open: OpenDevice,
    options: {
      reopen: () => Promise<OpenDevice>;
      budget: number;
      tuning: Partial<Tuning>;
      retainBases: boolean;
    },
  ) {
    this.#curve = curve;
    this.#kernels = createKernels(curve);
    this.#reopen = options.reopen;
    this.#budget = options.budget;
    this.#tuning = options.tuning;
    this.#retainBases = options.retainBases;
    this.#open = open;
    this.#runner = this.#runnerOn(open);
  }

  get adapter(): AdapterDescription {
    return this.#open.adapter;
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

  async loadBases(points: BytesLike | readonly AffinePoint[], options: LoadBasesOptions = {}): Promise<Bases> {
    const call = readCallOptions(options);
    this.#assertUsable(call.signal);
    const tables = loadedTables(this.#curve, readPrecompute(call));
    const bytes = encodePoints(this.#curve, points);
    const { maxBufferSize } = this.#runner.device.limits;
    const taken = bytes.length * tables.count;
    if (taken > maxBufferSize) {
      const advice = tables.count === 1 ? '' : '; precompute less';
      throw badArgument(
        `points: ${taken} bytes are more than the ${maxBufferSize} that one buffer of the device holds${advice}`,
      );
    }
    return this.#queue.run(() => this.#load(bytes, tables, call));
  }

  async msm(bases: Bases, scalars: BytesLike | readonly bigint[], options: MsmOptions = {}): Promise<AffinePoint> {
    const clock = new HostClock();
    const call = readCallOptions(options);
    this.#assertUsable(call.signal);
    const resident = this.#assertOurs(bases);
    const factors = this.#readFactors(resident, scalars, call.offset, { scalars: 'scalars', offset: 'offset' });
    clock.enter(null);
    const [sum] = await this.#queue.run(() => this.#multiply(resident, [factors], call, clock));
    return sum as AffinePoint;
  }

  async msmBatch(
    bases: Bases,
    scalars: readonly (BytesLike | readonly bigint[])[],
    options: MsmBatchOptions = {},
  ): Promise<AffinePoint[]> {
    const clock = new HostClock();
    const call = readCallOptions(options);
    this.#assertUsable(call.signal);
    const resident = this.#assertOurs(bases);
    const offsets = readOffsets(options, scalars);
    // not map, which passes over the holes of an array
    const factors = Array.from(scalars, (vector, i) =>
      this.#readFactors(resident, vector, offsets[i], { scalars: `scalars[${i}]`, offset: `offsets[${i}]` }),
    );
    clock.enter(null);
    return this.#queue.run(() => this.#multiply(resident, factors, call, clock));
  }

  async warmup(n: number): Promise<void> {
    this.#assertUsable(undefined);
    if (!Number.isInteger(n) || n < 1) throw badArgument(`n must be a positive integer, got ${show(n)}`);
    await this.#queue.run(async () => {
      const runner = await this.#liveRunner();
      const limits = this.#planLimits();
      // larger ones run the same kernels more often
      const load = fullWorkload(Math.min(n, LARGEST_WARMUP), this.#curve);
      const commands = schedule(
        [{ load, offset: 0, indices: null }],
        this.#curve,
        limits,
        this.#budget,
        this.#tuning,
      ).flatMap((job) => recordJob(this.#kernels, job, () => ({ buffer: 'bases' })));
      const carry = fieldCarryOf(limits, this.#tuning);
      // with buffers of its own, so that it keeps none
      const apart = this.#runnerOn(this.#open);
      try {
        const kernels = [this.#kernels.importPoints(carry), ...kernelsOf(commands)];
        await compileAndDispatch(apart, kernels, () => runner.assertAlive());
      } catch (error) {
        runner.assertAlive(error);
        throw error;
      } finally {
        apart.destroy();
      }
    });
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#runner.destroy();
    // what is lost need not be destroyed, and Dawn has been seen to crash when it was
    if (this.#open.owned && !this.#runner.isLost) this.#open.device.destroy();
  }

  [dispose](): void {
    this.destroy();
  }

  /** Refuses at once what can never succeed. The loss of a device of our own is not such a case. */
  #assertUsable(signal: AbortSignal | undefined): void {
    if (this.#destroyed) throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    if (!this.#open.owned) this.#runner.assertAlive();
    assertNotAborted(signal);
  }

  #runnerOn({ device, owned }: OpenDevice): Runner {
    const again = this.#retainBases ? 'call again' : 'as retainBases is false, load the bases again';
    const afterLoss = owned
      ? `${again}, and the engine gets itself a new one`
      : 'it was yours: request another, and create a new engine on it';
    return new Runner(device, this.#budget, afterLoss);
  }

  /** The runner to work on: that of a new device, if the engine's own was lost since the last call. */
  async #liveRunner(): Promise<Runner> {
    if (this.#runner.isLost && this.#open.owned) {
      const open = await this.#reopen();
      if (this.#destroyed) {
        open.device.destroy();
        throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
      }
      this.#peakOfLost = this.memory.peak;
      this.#runner.destroy();
      this.#open = open;
      this.#additionsPerMs = null;
      this.#runner = this.#runnerOn(open);
    }
    this.#runner.assertAlive();
    return this.#runner;
  }

  /** Where the bases are on the runner's device; loads them again if the device that they were on is gone. */
  async #residentBuffer(runner: Runner, bases: ResidentBases): Promise<GPUBuffer> {
    const buffer = bases.bufferOn(runner);
    if (buffer !== null) return buffer;
    if (bases.source === null) {
      throw new MsmError(
        'device-lost',
        `the bases '${bases.label}' were lost with their device, and retainBases is false; load them again`,
      );
    }
    const reloaded = await this.#upload(runner, bases.source, bases.tables, { label: bases.label });
    try {
      bases.assertAlive(); // they may have been destroyed meanwhile
    } catch (error) {
      runner.ledger.destroy(reloaded);
      throw error;
    }
    bases.moveTo(runner, reloaded);
    return reloaded;
  }

  async #load(bytes: Uint8Array<ArrayBuffer>, tables: TableShape, options: CallOptions): Promise<Bases> {
    this.#assertUsable(options.signal);
    const runner = await this.#liveRunner();
    const buffer = await this.#upload(runner, bytes, tables, options);
    const source = this.#retainBases ? bytes : null;
    const length = bytes.length / this.#curve.pointBytes;
    const bases = new ResidentBases(length, options.label ?? 'bases', tables, source, runner, buffer);
    this.#bases.add(bases);
    return bases;
  }

  #upload(
    runner: Runner,
    bytes: Uint8Array<ArrayBuffer>,
    tables: TableShape,
    { label = 'bases', signal, onProgress }: Partial<CallOptions>,
  ): Promise<GPUBuffer> {
    const context = { curve: this.#curve, kernels: this.#kernels, limits: this.#planLimits(), tuning: this.#tuning };
    const goOn = () => this.#assertUsable(signal);
    return loadPoints(runner, context, { bytes, tables, label, budget: this.#budget, goOn, onProgress });
  }

  /** @throws MsmError `bad-argument`, `destroyed` */
  #assertOurs(bases: Bases): ResidentBases {
    if (!(bases instanceof ResidentBases) || !this.#bases.has(bases)) {
      throw badArgument('bases must come from loadBases of this engine');
    }
    bases.assertAlive();
    return bases;
  }

  /** @throws MsmError `bad-argument` naming what is wrong by the names given */
  #readFactors(
    bases: ResidentBases,
    given: BytesLike | readonly bigint[],
    offset: unknown,
    names: { readonly scalars: string; readonly offset: string },
  ): Factors {
    const scalars = encodeScalars(this.#curve, given, names.scalars);
    const n = scalars.length / this.#curve.scalarBytes;
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
    return { scalars, n, offset: first };
  }

  #survey(bases: ResidentBases, vectors: readonly Factors[]): SurveyedVector[] {
    // the checks look bases up in a row; and those of a chunk have to be bound together, however far apart
    const { maxStorageBufferBindingSize } = this.#runner.device.limits;
    const picks = this.#tuning.checks !== true && bases.byteLength <= maxStorageBufferBindingSize;
    return vectors.map(({ scalars, offset }) => ({ ...survey(this.#curve, scalars, bases.tables, picks), offset }));
  }

  /**
   * One sum for each vector.
   *
   * @param clock of the call, which counted nothing while earlier calls ran
   */
  async #multiply(
    bases: ResidentBases,
    vectors: readonly Factors[],
    options: CallOptions,
    clock: HostClock,
  ): Promise<AffinePoint[]> {
    clock.enter('encodeMs');
    this.#assertUsable(options.signal);
    bases.assertAlive();
    const n = vectors.reduce((sum, vector) => sum + vector.n, 0);
    if (n === 0) return vectors.map(() => publicPoint(this.#curve, null));
    const surveyed = this.#survey(bases, vectors);
    const cost = surveyed.reduce(
      (sum, { load }) => sum + (load.n === 0 ? 0 : load.n + CPU_VECTOR_COST),
      -CPU_VECTOR_COST,
    );
    if (cost < 0 || (cost <= cpuBelowOf(this.#planLimits(), this.#tuning) && bases.source !== null)) {
      return this.#multiplyOnCpu(bases, surveyed, n, options, clock);
    }
    const surveyedOn = this.#runner;
    const runner = await this.#liveRunner();
    const buffer = await this.#residentBuffer(runner, bases);
    this.#assertUsable(options.signal);
    // those of the device that there is now
    const limits = this.#planLimits();
    if (runner !== surveyedOn) surveyed.splice(0, surveyed.length, ...this.#survey(bases, vectors));
    const jobs = schedule(surveyed, this.#curve, limits, this.#budget, this.#tuning);
    const allSubmits = jobs.reduce((sum, { submits }) => sum + submits, 0);
    const tick = (done: number): void => {
      this.#assertUsable(options.signal);
      clock.leaveOut(() => options.onProgress?.({ phase: 'msm', done, total: allSubmits }));
    };
    const context: JobContext = {
      curve: this.#curve,
      kernels: this.#kernels,
      bases: buffer,
      vectors: surveyed,
      clock,
      goOn: () => this.#assertUsable(options.signal),
    };
    const outcomes: JobOutcome[] = [];
    const sumOf = (what: 'entries' | 'dispatches' | 'submits' | 'foldMs'): number =>
      outcomes.reduce((sum, outcome) => sum + outcome[what], 0);
    const totals = vectors.map(() => infinity);
    for (const job of jobs) {
      clock.enter('encodeMs');
      const before = sumOf('submits');
      tick(before);
      const onSubmitted = (done: number) => tick(before + done);
      const outcome = await runJob(runner, context, job, onSubmitted).catch((error: unknown) => {
        // that WebGPU refuses a command is no riddle if the bases were destroyed meanwhile
        if (error instanceof MsmError && error.code === 'internal') bases.assertAlive();
        throw error;
      });
      job.parts.forEach(({ pieces }, part) => {
        pieces.forEach(({ vector }, piece) => {
          const sum = outcome.sums[part]?.[piece] as AffinePoint;
          totals[vector] = addAffine(this.#curve, totals[vector] as Jacobian, sum.infinity ? null : sum);
        });
      });
      outcomes.push(outcome);
    }
    tick(allSubmits);
    this.#assertUsable(options.signal);
    const results = totals.map((total) => publicPoint(this.#curve, toAffine(this.#curve, total)));
    const { wallMs, walls } = clock.read();
    const timeline = timelineOf(outcomes, walls.submitToResultMs);
    const phases = timeline && phasesOf(timeline, sumOf('foldMs'));
    const walkMs = phases?.find(({ name }) => name === 'walk')?.ms;
    const entries = sumOf('entries');
    // no time at all is none that was measured
    this.#additionsPerMs = learnedRate(this.#additionsPerMs, entries, walkMs || walls.submitToResultMs);
    const { plan } = (jobs[0] as Job).parts[0] as Part;
    this.#lastRun = {
      on: 'gpu',
      n,
      vectors: vectors.length,
      windowBits: plan.tuning.windowBits,
      windows: plan.pieces * plan.vectorWindows,
      tasks: plan.levelTasks[0] as number,
      entries,
      dispatches: sumOf('dispatches'),
      submits: sumOf('submits'),
      wallMs,
      walls,
      phases,
      timeline,
      tuning: plan.tuning,
      adapter: this.adapter,
    };
    return results;
  }

  /** Small MSMs, over the points that the engine has in main memory. */
  async #multiplyOnCpu(
    bases: ResidentBases,
    vectors: readonly SurveyedVector[],
    n: number,
    options: CallOptions,
    clock: HostClock,
  ): Promise<AffinePoint[]> {
    const goOn = (): void => {
      this.#assertUsable(options.signal);
      bases.assertAlive();
    };
    goOn();
    options.onProgress?.({ phase: 'msm', done: 0, total: 1 });
    const computing = performance.now();
    const { sums, windowBits, windows, entries } = await multiplyOnCpu(this.#curve, bases.source, vectors, goOn);
    const ms = performance.now() - computing;
    options.onProgress?.({ phase: 'msm', done: 1, total: 1 });
    this.#assertUsable(options.signal);
    this.#lastRun = {
      on: 'cpu',
      n,
      vectors: vectors.length,
      windowBits,
      windows,
      tasks: 0,
      entries,
      dispatches: 0,
      submits: 0,
      wallMs: clock.read().wallMs,
      walls: null,
      phases: [{ name: 'msm (CPU)', ms }],
      timeline: null,
      tuning: {
        ...resolveTuning(fullWorkload(n, this.#curve), this.#curve, this.#planLimits(), this.#tuning),
        windowBits,
      },
      adapter: this.adapter,
    };
    return sums;
  }

  #planLimits(): PlanLimits {
    const { device, adapter } = this.#open;
    const { limits } = device;
    return {
      software: adapter.software,
      slowShifts: hasSlowShifts(adapter),
      additionsPerMs: this.#additionsPerMs,
      maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
      maxBufferSize: limits.maxBufferSize,
      maxComputeInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX: limits.maxComputeWorkgroupSizeX,
      maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
    };
  }
}

/**
 * Makes an engine that computes multi-scalar multiplications on one curve, on one GPU device.
 *
 * @throws MsmError `bad-argument` (an option is wrong; the message names it), `no-webgpu`, `unsupported-device`
 */
export const createMsmEngine = async (options: MsmEngineOptions): Promise<MsmEngine> => {
  if (typeof options !== 'object' || options === null) throw badArgument('options must be an object with a `curve`');
  const curve = openCurve(options.curve);
  // read once: what becomes of the object afterwards does not matter
  const { device, gpu, powerPreference, memoryBudget = DEFAULT_BUDGET, retainBases = true } = options;
  if (!(Number.isInteger(memoryBudget) && memoryBudget > 0)) {
    throw badArgument(`memoryBudget must be a positive integer of bytes, got ${show(memoryBudget)}`);
  }
  const { calibration, tuning: knobs = {} } = options;
  if (calibration !== undefined && (typeof calibration !== 'object' || calibration === null)) {
    throw badArgument(`calibration must be what calibrate returned, got ${show(calibration)}`);
  }
  const tuning = Object.freeze({
    ...(calibration === undefined ? {} : checkTuning(calibration.tuning)),
    ...given(checkTuning(knobs)),
  });
  if (typeof retainBases !== 'boolean')
    throw badArgument(`retainBases must be true or false, got ${show(retainBases)}`);
  // It also keeps `gpu` reachable while a call is pending: Dawn in Node crashes if it is collected meanwhile.
  const reopen = (): Promise<OpenDevice> => openDevice({ device, gpu, powerPreference });
  return new Engine(curve, await reopen(), { reopen, budget: memoryBudget, tuning, retainBases });
};
