/**
 * The CPU as a backend: sums in WebAssembly, on several threads if there is enough to do; on BigInts
 * where the platform has no WebAssembly.
 */
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../../api/device.js';
import type { RunRecord } from '../../api/run-record.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { toAffine } from '../../curves/jacobian.js';
import { type PointSource, readerOf } from '../../curves/point-source.js';
import { badArgument, NoWasmMemory } from '../../errors.js';
import { ticketOf } from '../../scheduling/edf.js';
import { timeSlices } from '../../scheduling/turn-queue.js';
import type { CallContext } from '../../session/call.js';
import type { Backend, Footprint, LoadRequest, MsmDone, MsmRequest } from '../backend.js';
import { LoadedBases } from '../inputs/loaded-bases.js';
import { type ScalarVector, type SurveyedScalars, surveyScalars } from '../inputs/scalars.js';
import { pippenger } from '../pippenger.js';
import { type CpuArithmetic, cpuShape, workersToStart } from '../plan/cost.js';
import { softwareKnobs } from '../plan/device-profiles.js';
import type { PlanLimits } from '../plan/planner.js';
import { type DeviceProfile, type Knobs, resolveTuning } from '../plan/tuning.js';
import { fullWorkload, NO_TABLES, type SurveyedVector } from '../plan/workload.js';
import { publicPoint } from '../stages/combine-windows.js';
import { arithmeticHere, unlessNoMemory, withAdder } from './adder.js';
import { hornerFor } from './combine-on-cpu.js';
import { CpuThreads, SINGLE_THREAD, type Threads, type WorkerOptions } from './cpu-threads.js';
import { type FewSum, multiplyFew } from './few-points.js';
import { loadOnCpu } from './load-points.js';
import { baseIndex, type CpuOutcome, WasmMsm } from './wasm-msm.js';

// a GPU takes its last step from this file
export { WasmHorner } from '../../wasm/points/horner-kernel.js';

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

/** Engine side of a run: threads, and values for its record. */
interface CpuRunContext {
  readonly curve: CurveContext;
  readonly limits: DeviceProfile;
  readonly tuning: Knobs;
  readonly adapter: AdapterDescription;
  readonly threads: CpuThreads;
  /** Returns how many workers may compute at the moment; if absent, all. */
  readonly allowed?: (() => number) | undefined;
}

interface CpuRun {
  readonly sums: AffinePoint<Coordinate>[];
  readonly record: RunRecord;
  /** Duration without the time in which other sums went first. */
  readonly ms: number;
}

const additionsOf = (vectors: readonly SurveyedVector[]): number =>
  vectors.reduce((sum, { load }) => sum + (load.n === 0 ? 0 : cpuShape(load).digits), 0);

/**
 * Computes an MSM when it is its turn.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param n scalars that were given, of all vectors
 */
const runOnCpu = async (
  { curve, limits, tuning, adapter, threads, allowed }: CpuRunContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  n: number,
  call: CallContext,
): Promise<CpuRun> => {
  const ticket = { ...ticketOf(call.ticket), size: additionsOf(vectors) };
  const checkpoint = (): void => call.checkpoint();
  return threads.queue.inTurn(ticket, async (pause) => {
    checkpoint();
    call.progress('msm', 0, 1);
    const computing = performance.now();
    const done = await multiplyOnCpu(curve, source, vectors, checkpoint, { ...threads.of(tuning), allowed, pause });
    const { sums, windowBits, windows, entries, arithmetic, workers, noWorkers, lost, chunk } = done;
    if (noWorkers !== null) threads.warn(noWorkers);
    const ms = performance.now() - computing - done.waitedMs;
    call.progress('msm', 1, 1);
    checkpoint();
    const record: RunRecord = {
      on: 'cpu',
      gpuShare: 0,
      arithmetic,
      workers,
      noWorkers,
      n,
      vectors: vectors.length,
      windowBits,
      windows,
      tasks: 0,
      entries,
      dispatches: 0,
      uploadedBytes: 0,
      submits: 0,
      wallMs: call.clock.read().wallMs,
      hostTimes: null,
      retried: lost,
      fallback: null,
      verified: true,
      phases: [{ name: 'msm (CPU)', ms }],
      timeline: null,
      tuning: { ...resolveTuning(fullWorkload(n, curve), curve, limits, tuning), windowBits, cpuChunk: chunk },
      adapter,
      predicted: null,
    };
    return { sums, record, ms };
  });
};

const NO_WEBASSEMBLY = "WebAssembly is missing or forbidden (CSP: 'wasm-unsafe-eval'), so BigInts compute";

/**
 * Multiplies vectors on the CPU.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param checkpoint called between time slices; ends the computation by throwing
 */
export const multiplyOnCpu = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  checkpoint: () => void,
  threads: Threads = SINGLE_THREAD,
): Promise<CpuOutcome> => {
  const { arithmetic = 'auto', pool } = threads;
  const onBigInts = (why: string | null, lost: string | null = null): Promise<CpuOutcome> =>
    multiplyOnBigInts(curve, source, vectors, checkpoint, { threads, why, lost });
  if (source === null || arithmetic === 'bigint') return onBigInts(null);
  const computing = withAdder(
    curve,
    async (adder, kernel) => {
      const horner = arithmetic === 'auto' ? hornerFor(curve) : null;
      const few = horner && multiplyFew(curve, horner, source, vectors);
      if (few !== null) return outcomeOfFew(few);
      return new WasmMsm({ curve, source, adder, kernel, horner, threads }, checkpoint).multiply(vectors);
    },
    arithmetic === 'auto' ? undefined : [arithmetic],
  );
  let outcome: CpuOutcome | null;
  try {
    outcome = await computing;
  } catch (error) {
    if (!(error instanceof NoWasmMemory) || arithmetic !== 'auto') throw error;
    // the memories of idle workers are for the next sum
    if (pool?.isBusy === false) pool.destroy();
    return onBigInts(error.message, `${error.message}; BigInts computed`);
  }
  if (outcome !== null) return outcome;
  if (arithmetic !== 'auto') {
    throw badArgument(`tuning.cpuArithmetic is '${arithmetic}', which this platform does not have; leave it out`);
  }
  return onBigInts(NO_WEBASSEMBLY);
};

const outcomeOfFew = ({ sum, digits, entries }: FewSum): CpuOutcome => ({
  ...{ sums: [sum], windowBits: 1, windows: digits, entries, arithmetic: 'wasm' },
  ...{ workers: 0, noWorkers: null, chunk: 0, lost: null, waitedMs: 0 },
});

const multiplyOnBigInts = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  checkpoint: () => void,
  { threads, why, lost }: { readonly threads: Threads; readonly why: string | null; readonly lost: string | null },
): Promise<CpuOutcome> => {
  const timeSlice = timeSlices(checkpoint, threads.pause);
  const read = source === null ? () => null : readerOf(curve, source);
  let largest = { windowBits: 2, windows: 0, entries: 0 };
  let entries = 0;
  const sums: AffinePoint<Coordinate>[] = [];
  for (const vector of vectors) {
    const done = await pippenger(curve, (i) => read(baseIndex(vector, i)), vector.scalars, timeSlice);
    sums.push(publicPoint(curve, toAffine(curve, done.sum)));
    entries += done.entries;
    if (done.entries > largest.entries) largest = done;
  }
  const { windowBits, windows } = largest;
  const { waitedMs } = timeSlice;
  const wantsWorkers = threads.workers > 0 && workersToStart(curve, entries) >= 1;
  const withoutWorkers = { workers: 0, noWorkers: wantsWorkers ? why : null, chunk: 0, lost };
  return { sums, windowBits, windows, entries, arithmetic: 'bigint', ...withoutWorkers, waitedMs };
};
