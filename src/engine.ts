import type {
  AdapterDescription,
  AffinePoint,
  Bases,
  LoadBasesOptions,
  MemoryUse,
  MsmEngine,
  MsmOptions,
  PhaseTime,
  RunRecord,
} from './api.js';
import type { Calibration } from './calibrate.js';
import { pippenger } from './cpu/pippenger.js';
import { type Curve, type CurveContext, curveContext } from './curves/curve.js';
import { addAffine, infinity, toAffine } from './curves/jacobian.js';
import { type NamedCurve, resolveCurve } from './curves/named.js';
import { assertNotAborted, badArgument, MsmError, show } from './errors.js';
import { hasSlowShifts, type OpenDevice, openDevice } from './gpu/device.js';
import { type CompileTime, compileTimes } from './gpu/pipelines.js';
import { groupsFor, itemsPerBindingStep } from './gpu/recording.js';
import { Runner } from './gpu/runner.js';
import { type CallOptions, encodePoints, encodeScalars, readCallOptions } from './input.js';
import { createKernels, type Kernels } from './kernels.js';
import { type Plan, type PlanLimits, planMsm } from './planner.js';
import { recordMsm } from './record.js';
import { SerialQueue } from './serial-queue.js';
import { assertNoFindings } from './stages/check.js';
import { fold, publicPoint } from './stages/fold.js';
import { IMPORT_THREADS, ImportConfig, importStart, NONE_REJECTED } from './stages/import.js';
import { Tally } from './stages/partition.js';
import { checkTuning, fieldCarryOf, given, resolveTuning, type Tuning } from './tuning.js';

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

/** Engines that lack `Symbol.dispose` lack `using` too; the method then has a name that nobody calls. */
const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol('Symbol.dispose');

const DEFAULT_BUDGET = 256 * 2 ** 20;

/** Smaller runs are dominated by latency, and say nothing about the rate. */
const LEAST_ENTRIES_TO_LEARN_FROM = 2 ** 18;

/** What one chunk came to. */
interface Chunk {
  readonly point: AffinePoint;
  readonly entries: number;
  readonly dispatches: number;
  readonly submits: number;
  readonly busyMs: number;
  readonly phases: PhaseTime[] | null;
}

/** Bases on the GPU, and what the engine needs to know about them. */
class ResidentBases implements Bases {
  readonly length: number;
  readonly label: string;
  /** What to load them from again after the loss of a device. */
  readonly source: Uint8Array<ArrayBuffer> | null;
  #home: { readonly runner: Runner; readonly buffer: GPUBuffer } | null;

  constructor(
    length: number,
    label: string,
    source: Uint8Array<ArrayBuffer> | null,
    runner: Runner,
    buffer: GPUBuffer,
  ) {
    this.length = length;
    this.label = label;
    this.source = source;
    this.#home = { runner, buffer };
  }

  get byteLength(): number {
    return this.#home?.buffer.size ?? 0;
  }

  /** @throws MsmError `destroyed` */
  assertAlive(): void {
    if (this.#home === null)
      throw new MsmError('destroyed', `the bases '${this.label}' were destroyed; load them again`);
  }

  /** Their buffer on a device; null if they are on another one, which must have been lost. */
  bufferOn(runner: Runner): GPUBuffer | null {
    this.assertAlive();
    return this.#home?.runner === runner ? this.#home.buffer : null;
  }

  moveTo(runner: Runner, buffer: GPUBuffer): void {
    this.#home = { runner, buffer };
  }

  destroy(): void {
    this.#home?.runner.ledger.destroy(this.#home.buffer);
    this.#home = null;
  }

  [dispose](): void {
    this.destroy();
  }
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

  async loadBases(points: Uint8Array | readonly AffinePoint[], options: LoadBasesOptions = {}): Promise<Bases> {
    const call = readCallOptions(options);
    this.#assertUsable(call.signal);
    const bytes = encodePoints(this.#curve, points);
    const length = bytes.length / this.#curve.pointBytes;
    const { maxBufferSize } = this.#runner.device.limits;
    if (bytes.length > maxBufferSize) {
      throw badArgument(
        `points: ${bytes.length} bytes are more than the ${maxBufferSize} that one buffer of the device holds`,
      );
    }
    return this.#queue.run(() => this.#load(bytes, length, call));
  }

  async msm(bases: Bases, scalars: Uint8Array | readonly bigint[], options: MsmOptions = {}): Promise<AffinePoint> {
    const started = performance.now();
    const call = readCallOptions(options);
    this.#assertUsable(call.signal);
    if (!(bases instanceof ResidentBases) || !this.#bases.has(bases)) {
      throw badArgument('bases must come from loadBases of this engine');
    }
    bases.assertAlive();
    const bytes = encodeScalars(this.#curve, scalars);
    const n = bytes.length / this.#curve.scalarBytes;
    const { offset = 0 } = call;
    if (!Number.isInteger(offset) || offset < 0 || offset > bases.length) {
      throw badArgument(`offset must be an integer from 0 to bases.length = ${bases.length}, got ${show(offset)}`);
    }
    if (n > bases.length - offset) {
      throw badArgument(
        `scalars: ${n} of them, but from offset ${offset} there are only ${bases.length - offset} bases`,
      );
    }
    return this.#queue.run(() => this.#multiply(bases, bytes, n, offset, call, started));
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
    const reloaded = await this.#upload(runner, bases.source, bases.length, { label: bases.label });
    try {
      bases.assertAlive(); // they may have been destroyed meanwhile
    } catch (error) {
      runner.ledger.destroy(reloaded);
      throw error;
    }
    bases.moveTo(runner, reloaded);
    return reloaded;
  }

  async #load(bytes: Uint8Array<ArrayBuffer>, length: number, options: CallOptions): Promise<Bases> {
    this.#assertUsable(options.signal);
    const runner = await this.#liveRunner();
    const buffer = await this.#upload(runner, bytes, length, options);
    const source = this.#retainBases ? bytes : null;
    const bases = new ResidentBases(length, options.label ?? 'bases', source, runner, buffer);
    this.#bases.add(bases);
    return bases;
  }

  /** Brings points to a device, and has them converted and checked there. */
  async #upload(
    runner: Runner,
    bytes: Uint8Array<ArrayBuffer>,
    length: number,
    { label = 'bases', signal, onProgress }: Partial<CallOptions>,
  ): Promise<GPUBuffer> {
    const { pointBytes } = this.#curve;
    const buffer = await runner.createResident(label, bytes.length);
    try {
      const binding = runner.device.limits.maxStorageBufferBindingSize;
      const step = itemsPerBindingStep(pointBytes);
      const slice = Math.floor(binding / (step * pointBytes)) * step;
      const slices = Math.ceil(length / slice);
      for (let i = 0; i < slices; i++) {
        assertNotAborted(signal);
        onProgress?.({ phase: 'load', done: i, total: slices });
        await this.#importSlice(runner, buffer, bytes, i * slice, Math.min(slice, length - i * slice));
        this.#assertUsable(signal);
      }
      onProgress?.({ phase: 'load', done: slices, total: slices });
      this.#assertUsable(signal);
      return buffer;
    } catch (error) {
      runner.ledger.destroy(buffer);
      throw error;
    }
  }

  async #importSlice(
    runner: Runner,
    buffer: GPUBuffer,
    bytes: Uint8Array<ArrayBuffer>,
    first: number,
    points: number,
  ): Promise<void> {
    const { pointBytes, name } = this.#curve;
    const [offset, size] = [first * pointBytes, points * pointBytes];
    const { data } = await runner.run({
      scratch: { outcome: 12 },
      external: { bases: buffer },
      uploads: [
        { to: { buffer: 'bases', offset }, data: bytes.subarray(offset, offset + size) },
        { to: { buffer: 'outcome' }, data: importStart() },
      ],
      commands: [
        {
          kind: 'dispatch',
          phase: 'import',
          kernel: this.#kernels.importPoints(fieldCarryOf(this.#planLimits(), this.#tuning)),
          config: ImportConfig.pack({ points, first }),
          bindings: { points: { buffer: 'bases', offset, size }, outcome: { buffer: 'outcome' } },
          groups: groupsFor(points, IMPORT_THREADS),
        },
      ],
      read: [{ buffer: 'outcome', size: 12 }],
    });
    const [notCanonical, offCurve, done] = data[0] as unknown as readonly [number, number, number];
    if (done !== points) {
      throw new MsmError('internal', `the GPU looked at ${done} of ${points} points; it does not do what it is told`);
    }
    if (notCanonical < offCurve)
      throw badArgument(`points[${notCanonical}]: a coordinate is not below the prime of ${name}`);
    if (offCurve !== NONE_REJECTED) throw new MsmError('not-on-curve', `points[${offCurve}] is not on ${name}`);
  }

  async #multiply(
    bases: ResidentBases,
    scalars: Uint8Array<ArrayBuffer>,
    n: number,
    offset: number,
    options: CallOptions,
    started: number,
  ): Promise<AffinePoint> {
    this.#assertUsable(options.signal);
    bases.assertAlive();
    if (n === 0) return publicPoint(this.#curve, null);
    const limits = this.#planLimits();
    const tuning = resolveTuning(n, this.#curve, limits, this.#tuning);
    if (n <= tuning.cpuBelow && bases.source !== null) {
      return this.#multiplyOnCpu({ bases, source: bases.source, offset, tuning }, scalars, options, started);
    }
    const runner = await this.#liveRunner();
    const buffer = await this.#residentBuffer(runner, bases);
    this.#assertUsable(options.signal);
    const plan = planMsm(n, this.#curve, limits, this.#budget, this.#tuning);
    const chunks = Math.ceil(n / plan.n);
    const tick = (done: number): void => {
      this.#assertUsable(options.signal);
      options.onProgress?.({ phase: 'msm', done, total: chunks * plan.submits });
    };
    const phases = new Map<string, number>();
    let timed = true;
    let [entries, dispatches, submits, busyMs] = [0, 0, 0, 0];
    let total = infinity;
    const { scalarBytes } = this.#curve;
    for (let i = 0; i < chunks; i++) {
      tick(i * plan.submits);
      const chunk = await this.#multiplyChunk(
        runner,
        { plan, buffer, offset: offset + i * plan.n },
        scalars.subarray(i * plan.n * scalarBytes, (i + 1) * plan.n * scalarBytes),
        (done) => tick(i * plan.submits + done),
      ).catch((error: unknown) => {
        // that WebGPU refuses a command is no riddle if the bases were destroyed meanwhile
        if (error instanceof MsmError && error.code === 'internal') bases.assertAlive();
        throw error;
      });
      total = addAffine(this.#curve, total, chunk.point.infinity ? null : chunk.point);
      entries += chunk.entries;
      dispatches += chunk.dispatches;
      submits += chunk.submits;
      busyMs += chunk.busyMs;
      timed &&= chunk.phases !== null;
      for (const { name, ms } of chunk.phases ?? []) phases.set(name, (phases.get(name) ?? 0) + ms);
    }
    tick(chunks * plan.submits);
    this.#assertUsable(options.signal);
    const wallMs = performance.now() - started;
    this.#learn(entries, timed ? (phases.get('walk') ?? 0) : busyMs);
    const result = publicPoint(this.#curve, toAffine(this.#curve, total));
    this.#lastRun = {
      on: 'gpu',
      n,
      windowBits: plan.tuning.windowBits,
      windows: plan.windows,
      tasks: plan.levelTasks[0] as number,
      entries,
      dispatches,
      submits,
      wallMs,
      phases: timed ? [...phases].map(([name, ms]): PhaseTime => ({ name, ms })) : null,
      tuning: plan.tuning,
      adapter: this.adapter,
    };
    return result;
  }

  /** A small MSM, over the points that the engine has in main memory. */
  async #multiplyOnCpu(
    {
      bases,
      source,
      offset,
      tuning,
    }: { bases: ResidentBases; source: Uint8Array<ArrayBuffer>; offset: number; tuning: Tuning },
    scalars: Uint8Array<ArrayBuffer>,
    options: CallOptions,
    started: number,
  ): Promise<AffinePoint> {
    const { pointBytes, scalarBytes } = this.#curve;
    const goOn = (): void => {
      this.#assertUsable(options.signal);
      bases.assertAlive();
    };
    goOn();
    options.onProgress?.({ phase: 'msm', done: 0, total: 1 });
    const computing = performance.now();
    const points = source.subarray(offset * pointBytes);
    const { sum, windowBits, windows, entries } = await pippenger(this.#curve, points, scalars, goOn);
    const result = publicPoint(this.#curve, toAffine(this.#curve, sum));
    const ms = performance.now() - computing;
    options.onProgress?.({ phase: 'msm', done: 1, total: 1 });
    this.#assertUsable(options.signal);
    this.#lastRun = {
      on: 'cpu',
      n: scalars.length / scalarBytes,
      windowBits,
      windows,
      tasks: 0,
      entries,
      dispatches: 0,
      submits: 0,
      wallMs: performance.now() - started,
      phases: [{ name: 'msm (CPU)', ms }],
      tuning: { ...tuning, windowBits },
      adapter: this.adapter,
    };
    return result;
  }

  async #multiplyChunk(
    runner: Runner,
    { plan, buffer, offset }: { plan: Plan; buffer: GPUBuffer; offset: number },
    scalars: Uint8Array<ArrayBuffer>,
    onSubmitted: (done: number) => void,
  ): Promise<Chunk> {
    const { pointBytes, scalarBytes } = this.#curve;
    const n = scalars.length / scalarBytes;
    const skipped = offset % itemsPerBindingStep(pointBytes);
    const bound = (offset - skipped) * pointBytes;
    const { data, phases, dispatches, submits, busyMs } = await runner.run({
      scratch: plan.scratch,
      external: { bases: buffer },
      uploads: [
        { to: { buffer: 'scalars' }, data: scalars },
        // no point of any curve: a GPU that does nothing must not pass for one whose last result is still there
        { to: { buffer: 'bitSums' }, data: new Uint32Array(plan.scratch.bitSums / 4).fill(0xffffffff) },
      ],
      commands: recordMsm(this.#kernels, plan, n, {
        slice: { buffer: 'bases', offset: bound, size: (skipped + n) * pointBytes },
        first: skipped,
      }),
      read: [
        { buffer: 'bitSums', size: plan.scratch.bitSums },
        { buffer: 'tally', size: Tally.byteLength },
        ...(plan.scratch.findings === undefined ? [] : [{ buffer: 'findings', size: plan.scratch.findings }]),
      ],
      onSubmitted,
    });
    const [sums, tally, findings] = data as readonly [Uint32Array, Uint32Array, Uint32Array?];
    if (findings !== undefined) assertNoFindings(findings, plan.levelTasks.length);
    const folding = performance.now();
    const point = fold(this.#curve, plan.tuning.windowBits, plan.reduce, sums);
    phases?.push({ name: 'fold (CPU)', ms: performance.now() - folding });
    return { point, entries: Tally.unpack(tally, 0).entries, dispatches, submits, busyMs, phases };
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

  /**
   * Learns how fast the device walks from a run that kept it busy. The last such run counts: without timestamps the first looks slower
   * than the device is, because its submits are short and each waits for the one before.
   */
  #learn(entries: number, ms: number): void {
    if (entries >= LEAST_ENTRIES_TO_LEARN_FROM && ms > 0) this.#additionsPerMs = entries / ms;
  }
}

/**
 * Makes an engine that computes multi-scalar multiplications on one curve, on one GPU device.
 *
 * @throws MsmError `bad-argument` (an option is wrong; the message names it), `no-webgpu`, `unsupported-device`
 */
export const createMsmEngine = async (options: MsmEngineOptions): Promise<MsmEngine> => {
  if (typeof options !== 'object' || options === null) throw badArgument('options must be an object with a `curve`');
  const curve = curveContext(resolveCurve(options.curve));
  // read once: what becomes of the object afterwards does not matter
  const { device, gpu, powerPreference, memoryBudget = DEFAULT_BUDGET, retainBases = true } = options;
  if (!(Number.isInteger(memoryBudget) && memoryBudget > 0)) {
    throw badArgument(`memoryBudget must be a positive integer of bytes, got ${show(memoryBudget)}`);
  }
  const { calibration } = options;
  if (calibration !== undefined && (typeof calibration !== 'object' || calibration === null)) {
    throw badArgument(`calibration must be what calibrate returned, got ${show(calibration)}`);
  }
  const tuning = Object.freeze({
    ...(calibration === undefined ? {} : checkTuning(calibration.tuning)),
    ...given(checkTuning(options.tuning === undefined ? {} : options.tuning)),
  });
  if (typeof retainBases !== 'boolean')
    throw badArgument(`retainBases must be true or false, got ${show(retainBases)}`);
  // It also keeps `gpu` reachable while a call is pending: Dawn in Node crashes if it is collected meanwhile.
  const reopen = (): Promise<OpenDevice> => openDevice({ device, gpu, powerPreference });
  return new Engine(curve, await reopen(), { reopen, budget: memoryBudget, tuning, retainBases });
};
