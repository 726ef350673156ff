/** The CPU as a backend. */
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import type { CallContext } from '../../session/call-context.js';
import type { Backend, Footprint, LoadRequest } from '../backend.js';
import { LoadedBases } from '../inputs/loaded-bases.js';
import { type ScalarVector, type SurveyedScalars, surveyScalars } from '../inputs/scalar-vectors.js';
import { type CpuArithmetic, cpuShape, workersToStart } from '../plan/cost.js';
import { softwareKnobs } from '../plan/device-profiles.js';
import type { PlanLimits } from '../plan/planner.js';
import type { Knobs } from '../plan/tuning.js';
import { fullWorkload, NO_TABLES } from '../plan/workload.js';
import type { MsmDone, MsmRequest } from '../request.js';
import { arithmeticHere, unlessNoMemory, withAdder } from './adder.js';
import { loadOnCpu } from './load.js';
import { runOnCpu } from './run.js';
import { CpuThreads, type WorkerOptions } from './threads.js';

// a GPU takes its last step from this file
export { WasmHorner } from '../../wasm/horner/horner.js';

/** Facts for the records of runs: the device beside the CPU, or what stands for one. */
export interface CpuSite {
  readonly adapter: AdapterDescription;
  readonly limits: PlanLimits;
  readonly tuning: Knobs;
}

/** The adapter of an engine without a GPU. */
const ADAPTER: AdapterDescription = {
  vendor: 'cpu',
  architecture: '',
  device: '',
  description: 'no GPU: computed on the CPU',
  software: true,
};

/** Limits that WebGPU guarantees: records tell the knobs of a GPU even where there is none. */
const LIMITS: PlanLimits = {
  knobs: softwareKnobs,
  product: 'unsigned',
  additionsPerMs: null,
  maxStorageBufferBindingSize: 2 ** 27,
  maxBufferSize: 2 ** 28,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 16_384,
};

/** Returns the site of an engine without a GPU. */
export const siteWithoutGpu = (tuning: Knobs): CpuSite => ({ adapter: ADAPTER, limits: LIMITS, tuning });

export class CpuBackend implements Backend {
  readonly kind = 'cpu';
  readonly memory: MemoryUse = { bases: 0, scalars: 0, scratch: 0, peak: 0 };
  readonly pipelines: readonly CompileTime[] = [];
  readonly selfTest: SelfTest | null = null;
  readonly frees = 0;
  readonly maxBufferSize = Number.POSITIVE_INFINITY;
  readonly #curve: CurveContext;
  readonly #site: () => CpuSite;
  readonly #threads: CpuThreads;

  constructor(curve: CurveContext, workers: WorkerOptions, site: () => CpuSite) {
    this.#curve = curve;
    this.#site = site;
    this.#threads = new CpuThreads(workers);
  }

  get adapter(): AdapterDescription {
    return this.#site().adapter;
  }

  /**
   * Returns the arithmetic of sums. Where a content security policy forbids WebAssembly, asking is
   * reported as a violation.
   */
  arithmetic(): CpuArithmetic {
    const { cpuArithmetic = 'auto' } = this.#site().tuning;
    return cpuArithmetic === 'auto' ? arithmeticHere(this.#curve) : cpuArithmetic;
  }

  assertUsable(): void {}

  assertFits(): void {}

  async load({ source, tables, label, checkSubgroup }: LoadRequest, call: CallContext): Promise<LoadedBases> {
    const length = source.bytes.length / this.#curve.pointBytes;
    // an aborted call must not start workers
    call.checkpoint();
    this.#startWorkers(length);
    const checked = await loadOnCpu(this.#curve, source, this.#threads, checkSubgroup, call);
    return new LoadedBases({ length, label, tables, source: checked, loader: null });
  }

  /** Starts the workers of a sum over n points, which takes a platform some 25 ms. */
  #startWorkers(n: number): void {
    const { pool, workers, arithmetic } = this.#threads.of(this.#site().tuning);
    if (pool === null || arithmetic === 'bigint' || n === 0) return;
    const { digits } = cpuShape(fullWorkload(n, this.#curve, NO_TABLES));
    pool.start(Math.min(workers, Math.floor(workersToStart(this.#curve, digits))));
  }

  async place(): Promise<void> {}

  survey(_: LoadedBases, vectors: readonly ScalarVector[]): SurveyedScalars[] {
    return vectors.map((vector) => surveyScalars(this.#curve, vector, NO_TABLES, true));
  }

  async multiply({ bases, surveyed, n, workersAllowed }: MsmRequest, call: CallContext): Promise<MsmDone> {
    const { adapter, limits, tuning } = this.#site();
    const context = { curve: this.#curve, threads: this.#threads, allowed: workersAllowed };
    const own = call.alsoEndedBy(() => bases.assertAlive());
    return runOnCpu({ ...context, adapter, limits, tuning }, bases.source, surveyed, n, own);
  }

  footprint(): Footprint {
    return { bytes: 0, submits: 0 };
  }

  async warmUp(): Promise<void> {
    await unlessNoMemory(withAdder(this.#curve, async () => undefined));
  }

  async trim(): Promise<void> {
    this.#threads.trim();
  }

  destroy(): void {
    this.#threads.destroy();
  }
}
