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
import { type Curve, type CurveContext, curveContext } from './curves/curve.js';
import { addAffine, infinity, toAffine } from './curves/jacobian.js';
import { type NamedCurve, resolveCurve } from './curves/named.js';
import { badArgument, MsmError } from './errors.js';
import { openDevice } from './gpu/device.js';
import { groupsFor } from './gpu/recording.js';
import { Runner } from './gpu/runner.js';
import { encodePoints, encodeScalars } from './input.js';
import { createKernels, type Kernels } from './kernels.js';
import { type Plan, planMsm } from './planner.js';
import { recordMsm } from './record.js';
import { SerialQueue } from './serial-queue.js';
import { fold, publicPoint } from './stages/fold.js';
import { IMPORT_THREADS, ImportConfig, NONE_REJECTED } from './stages/import.js';
import { checkTuning, type Tuning } from './tuning.js';

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
  /** Knobs to set by hand; see `Tuning`. */
  readonly tuning?: Partial<Tuning>;
}

const DEFAULT_BUDGET = 256 * 2 ** 20;
/** What a binding's offset must be a multiple of (WebGPU's default minStorageBufferOffsetAlignment). */
const STORAGE_ALIGNMENT = 256;

const assertNotAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw new MsmError('aborted', 'the call was aborted', { cause: signal.reason });
};

/** Bases on the GPU, and what the engine needs to know about them. */
class ResidentBases implements Bases {
  readonly length: number;
  readonly label: string;
  #buffer: GPUBuffer | null;
  readonly #release: (buffer: GPUBuffer) => void;

  constructor(length: number, label: string, buffer: GPUBuffer, release: (buffer: GPUBuffer) => void) {
    this.length = length;
    this.label = label;
    this.#buffer = buffer;
    this.#release = release;
  }

  get byteLength(): number {
    return this.#buffer?.size ?? 0;
  }

  /** @throws MsmError `destroyed` */
  get buffer(): GPUBuffer {
    if (this.#buffer === null)
      throw new MsmError('destroyed', `the bases '${this.label}' were destroyed; load them again`);
    return this.#buffer;
  }

  destroy(): void {
    if (this.#buffer !== null) this.#release(this.#buffer);
    this.#buffer = null;
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}

class Engine implements MsmEngine {
  readonly adapter: AdapterDescription;
  readonly #curve: CurveContext;
  readonly #runner: Runner;
  readonly #kernels: Kernels;
  readonly #ownsDevice: boolean;
  readonly #budget: number;
  readonly #tuning: Partial<Tuning>;
  readonly #queue = new SerialQueue();
  readonly #bases = new WeakSet<Bases>();
  #lastRun: RunRecord | null = null;
  #destroyed = false;

  constructor(
    curve: CurveContext,
    open: { device: GPUDevice; owned: boolean; adapter: AdapterDescription },
    options: { budget: number; tuning: Partial<Tuning> },
  ) {
    this.adapter = open.adapter;
    this.#curve = curve;
    this.#runner = new Runner(open.device, options.budget);
    this.#kernels = createKernels(curve);
    this.#ownsDevice = open.owned;
    this.#budget = options.budget;
    this.#tuning = options.tuning;
  }

  get memory(): MemoryUse {
    return this.#runner.ledger.memory;
  }

  get lastRun(): RunRecord | null {
    return this.#lastRun;
  }

  async loadBases(points: Uint8Array | readonly AffinePoint[], options: LoadBasesOptions = {}): Promise<Bases> {
    this.#assertUsable(options.signal);
    const bytes = encodePoints(this.#curve, points);
    const length = bytes.length / this.#curve.pointBytes;
    const { maxBufferSize } = this.#runner.device.limits;
    if (bytes.length > maxBufferSize) {
      throw badArgument(
        `points: ${bytes.length} bytes are more than the ${maxBufferSize} that one buffer of the device holds`,
      );
    }
    return this.#queue.run(() => this.#load(bytes, length, options));
  }

  async msm(bases: Bases, scalars: Uint8Array | readonly bigint[], options: MsmOptions = {}): Promise<AffinePoint> {
    const started = performance.now();
    this.#assertUsable(options.signal);
    if (!(bases instanceof ResidentBases) || !this.#bases.has(bases)) {
      throw badArgument('bases must come from loadBases of this engine');
    }
    bases.buffer; // refuses destroyed bases
    const bytes = encodeScalars(this.#curve, scalars);
    const n = bytes.length / this.#curve.scalarBytes;
    const { offset = 0 } = options;
    if (!Number.isInteger(offset) || offset < 0 || offset > bases.length) {
      throw badArgument(`offset must be an integer from 0 to bases.length = ${bases.length}, got ${offset}`);
    }
    if (n > bases.length - offset) {
      throw badArgument(
        `scalars: ${n} of them, but from offset ${offset} there are only ${bases.length - offset} bases`,
      );
    }
    return this.#queue.run(() => this.#multiply(bases, bytes, n, offset, options, started));
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#runner.destroy();
    if (this.#ownsDevice) this.#runner.device.destroy();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  #assertUsable(signal: AbortSignal | undefined): void {
    if (this.#destroyed) throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    this.#runner.assertAlive();
    assertNotAborted(signal);
  }

  async #load(bytes: Uint8Array<ArrayBuffer>, length: number, options: LoadBasesOptions): Promise<Bases> {
    const { label = 'bases', signal, onProgress } = options;
    this.#assertUsable(signal);
    const { pointBytes } = this.#curve;
    const buffer = await this.#runner.createResident(label, bytes.length);
    try {
      const binding = this.#runner.device.limits.maxStorageBufferBindingSize;
      const slice = Math.floor(binding / STORAGE_ALIGNMENT) * (STORAGE_ALIGNMENT / pointBytes);
      const slices = Math.ceil(length / slice);
      for (let i = 0; i < slices; i++) {
        assertNotAborted(signal);
        onProgress?.({ phase: 'load', done: i, total: slices });
        await this.#importSlice(buffer, bytes, i * slice, Math.min(slice, length - i * slice));
        this.#assertUsable(signal);
      }
      onProgress?.({ phase: 'load', done: slices, total: slices });
    } catch (error) {
      this.#runner.ledger.destroy(buffer);
      throw error;
    }
    const bases = new ResidentBases(length, label, buffer, (freed) => this.#runner.ledger.destroy(freed));
    this.#bases.add(bases);
    return bases;
  }

  async #importSlice(buffer: GPUBuffer, bytes: Uint8Array<ArrayBuffer>, first: number, points: number): Promise<void> {
    const { pointBytes, name } = this.#curve;
    const [offset, size] = [first * pointBytes, points * pointBytes];
    const { data } = await this.#runner.run({
      scratch: { rejected: 8 },
      external: { bases: buffer },
      uploads: [
        { to: { buffer: 'bases', offset }, data: bytes.subarray(offset, offset + size) },
        { to: { buffer: 'rejected' }, data: Uint32Array.of(NONE_REJECTED, NONE_REJECTED) },
      ],
      commands: [
        {
          kind: 'dispatch',
          phase: 'import',
          kernel: this.#kernels.importPoints(),
          config: ImportConfig.pack({ points, first }),
          bindings: { points: { buffer: 'bases', offset, size }, rejected: { buffer: 'rejected' } },
          groups: groupsFor(points, IMPORT_THREADS),
        },
      ],
      read: { buffer: 'rejected', size: 8 },
    });
    const [notCanonical, offCurve] = data as unknown as readonly [number, number];
    if (notCanonical < offCurve)
      throw badArgument(`points[${notCanonical}]: a coordinate is not below the prime of ${name}`);
    if (offCurve !== NONE_REJECTED) throw new MsmError('not-on-curve', `points[${offCurve}] is not on ${name}`);
  }

  async #multiply(
    bases: ResidentBases,
    scalars: Uint8Array<ArrayBuffer>,
    n: number,
    offset: number,
    options: MsmOptions,
    started: number,
  ): Promise<AffinePoint> {
    this.#assertUsable(options.signal);
    if (n === 0) return publicPoint(this.#curve, null);
    const plan = planMsm(n, this.#curve, this.#planLimits(), this.#budget, this.#tuning);
    const chunks = Math.ceil(n / plan.n);
    const phases = new Map<string, number>();
    let timed = true;
    let dispatches = 0;
    let total = infinity;
    for (let i = 0; i < chunks; i++) {
      options.onProgress?.({ phase: 'msm', done: i, total: chunks });
      const first = i * plan.n;
      const chunk = await this.#multiplyChunk(bases, scalars, offset, first, Math.min(plan.n, n - first), plan);
      this.#assertUsable(options.signal);
      total = addAffine(this.#curve, total, chunk.point.infinity ? null : chunk.point);
      dispatches += chunk.dispatches;
      timed &&= chunk.phases !== null;
      for (const { name, ms } of chunk.phases ?? []) phases.set(name, (phases.get(name) ?? 0) + ms);
    }
    options.onProgress?.({ phase: 'msm', done: chunks, total: chunks });
    const result = publicPoint(this.#curve, toAffine(this.#curve, total));
    this.#lastRun = {
      n,
      windowBits: plan.tuning.windowBits,
      windows: plan.windows,
      tasks: plan.levelTasks[0] as number,
      dispatches,
      submits: chunks,
      wallMs: performance.now() - started,
      phases: timed ? [...phases].map(([name, ms]): PhaseTime => ({ name, ms })) : null,
      tuning: plan.tuning,
      adapter: this.adapter,
    };
    return result;
  }

  async #multiplyChunk(
    bases: ResidentBases,
    scalars: Uint8Array<ArrayBuffer>,
    offset: number,
    first: number,
    n: number,
    plan: Plan,
  ): Promise<{ point: AffinePoint; dispatches: number; phases: PhaseTime[] | null }> {
    const { pointBytes, scalarBytes } = this.#curve;
    const start = (offset + first) * pointBytes;
    const bound = Math.floor(start / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
    const { data, dispatches, phases } = await this.#runner.run({
      scratch: plan.scratch,
      external: { bases: bases.buffer },
      uploads: [{ to: { buffer: 'scalars' }, data: scalars.subarray(first * scalarBytes, (first + n) * scalarBytes) }],
      commands: recordMsm(this.#kernels, plan, n, {
        slice: { buffer: 'bases', offset: bound, size: start + n * pointBytes - bound },
        first: (start - bound) / pointBytes,
      }),
      read: { buffer: 'bitSums', size: plan.scratch.bitSums },
    });
    const folding = performance.now();
    const point = fold(this.#curve, plan.tuning.windowBits, plan.reduce, data);
    phases?.push({ name: 'fold (CPU)', ms: performance.now() - folding });
    return { point, dispatches, phases };
  }

  #planLimits(): GPUSupportedLimits & { software: boolean } {
    const { limits } = this.#runner.device;
    const names = [
      'maxStorageBufferBindingSize',
      'maxBufferSize',
      'maxComputeInvocationsPerWorkgroup',
      'maxComputeWorkgroupSizeX',
      'maxComputeWorkgroupStorageSize',
    ] as const;
    const picked = Object.fromEntries(names.map((name) => [name, limits[name]]));
    return { ...picked, software: this.adapter.software } as GPUSupportedLimits & { software: boolean };
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
  const { memoryBudget = DEFAULT_BUDGET, tuning = {} } = options;
  if (!(Number.isInteger(memoryBudget) && memoryBudget > 0)) {
    throw badArgument(`memoryBudget must be a positive integer of bytes, got ${memoryBudget}`);
  }
  checkTuning(tuning);
  const open = await openDevice(options);
  return new Engine(curve, open, { budget: memoryBudget, tuning });
};
