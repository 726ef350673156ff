/** An engine without a GPU: the same calls, on the CPU alone. */
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../api/device.js';
import type { MsmEngine, MsmPlan } from '../api/engine.js';
import type { RunRecord } from '../api/run-record.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { originalOf } from '../curves/edwards.js';
import type { PointSource } from '../curves/point-source.js';
import { badArgument, MsmError, show } from '../errors.js';
import { withAdder } from '../msm/cpu/adder.js';
import { loadOnCpu } from '../msm/cpu/load.js';
import { runOnCpu } from '../msm/cpu/run.js';
import { CpuThreads } from '../msm/cpu/threads.js';
import type { PlanLimits } from '../msm/plan/planner.js';
import type { Knobs } from '../msm/plan/tuning.js';
import { NO_TABLES } from '../msm/plan/workload.js';
import { dispose, notTheHandle } from '../msm/resident-bases.js';
import { type ScalarVector, surveyScalars } from '../msm/scalar-vectors.js';
import type { CallClock } from '../session/clock.js';
import { Front, type OwnBases } from './front.js';
import type { Call } from './input.js';
import type { ReadOptions } from './options.js';

/** What is told of where it runs. */
const ADAPTER: AdapterDescription = {
  vendor: 'cpu',
  architecture: '',
  device: '',
  description: 'no GPU: computed on the CPU',
  software: true,
};

/** Limits that WebGPU guarantees: what the knobs of a GPU would be is told of every run. */
const LIMITS: PlanLimits = {
  software: true,
  product: 'signed',
  additionsPerMs: null,
  maxStorageBufferBindingSize: 2 ** 27,
  maxBufferSize: 2 ** 28,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 16_384,
};

/** Points in main memory. */
class HostBases implements OwnBases {
  readonly length: number;
  readonly label: string;
  /** On a GPU there are none. */
  readonly byteLength = 0;
  #source: PointSource | null;

  constructor(length: number, label: string, source: PointSource) {
    this.length = length;
    this.label = label;
    this.#source = source;
  }

  get source(): PointSource | null {
    return this.#source;
  }

  assertAlive(): void {
    if (this.#source !== null) return;
    throw new MsmError('destroyed', `the bases '${this.label}' were destroyed; load them again`);
  }

  destroy(): void {
    if (!(#source in this)) throw notTheHandle();
    this.#source = null;
  }

  [dispose](): void {
    this.destroy();
  }
}

export class CpuEngine extends Front<HostBases> implements MsmEngine<Coordinate> {
  readonly adapter = ADAPTER;
  readonly backends = ['cpu'] as const;
  readonly memory: MemoryUse = { bases: 0, scalars: 0, scratch: 0, peak: 0 };
  readonly pipelines: readonly CompileTime[] = [];
  readonly selfTest: SelfTest | null = null;
  protected readonly frees = 0;
  readonly #tuning: Knobs;
  readonly #threads: CpuThreads;
  #lastRun: RunRecord | null = null;

  constructor(curve: CurveContext, options: ReadOptions) {
    // one that is computed, one behind it, and what is more urgent, which goes first between its parts
    super(curve, options.queueOf(2));
    const { tuning, workers } = options;
    this.#tuning = tuning;
    this.#threads = new CpuThreads(workers);
  }

  get lastRun(): RunRecord | null {
    return this.#lastRun;
  }

  async warmup(n: number): Promise<void> {
    this.assertUsable(undefined);
    if (!Number.isInteger(n) || n < 1) throw badArgument(`n must be a positive integer, got ${show(n)}`);
    await withAdder(this.curve, async () => undefined);
  }

  async trim(): Promise<void> {
    this.assertUsable(undefined);
    this.#threads.trim();
  }

  protected release(): void {
    this.#threads.destroy();
  }

  protected async originals() {
    return originalOf;
  }

  protected assertFits(): void {}

  protected async planned(): Promise<MsmPlan> {
    return { bytes: 0, submits: 0, predicted: null };
  }

  protected async place(): Promise<void> {}

  protected company(): readonly [] {
    return [];
  }

  protected async load(source: PointSource, _: unknown, options: Call): Promise<HostBases> {
    const { label = 'bases', signal } = options;
    const checked = await loadOnCpu(this.curve, source, this.#threads, options, () => this.assertUsable(signal));
    return new HostBases(source.bytes.length / this.curve.pointBytes, label, checked);
  }

  protected async multiply(
    bases: HostBases,
    vectors: readonly ScalarVector[],
    n: number,
    options: Call,
    clock: CallClock,
  ): Promise<AffinePoint<Coordinate>[]> {
    const checkpoint = (): void => {
      this.assertUsable(options.signal);
      bases.assertAlive();
    };
    const surveyed = vectors.map((vector) => surveyScalars(this.curve, vector, NO_TABLES, true));
    const context = {
      curve: this.curve,
      limits: LIMITS,
      tuning: this.#tuning,
      adapter: this.adapter,
      threads: this.#threads,
    };
    const { sums, record } = await runOnCpu(context, bases.source, surveyed, n, options, clock, checkpoint);
    this.#lastRun = record;
    this.count(record);
    return sums;
  }
}
