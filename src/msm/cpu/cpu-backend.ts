/**
 * The CPU as a backend: sums in WebAssembly, on several threads if there is enough to do; on BigInts
 * where the platform has no WebAssembly.
 */
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../../api/device.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { toAffine } from '../../curves/jacobian.js';
import { type PointSource, readerOf } from '../../curves/point-source.js';
import { badArgument, NoWasmMemory } from '../../errors.js';
import type { Call } from '../../scheduling/call.js';
import { timeSlices } from '../../scheduling/turn-queue.js';
import type { Backend, Footprint, LoadRequest, MsmDone, MsmRequest } from '../backend.js';
import { LoadedBases } from '../inputs/loaded-bases.js';
import { type ScalarVector, type SurveyedScalars, surveyScalars } from '../inputs/scalars.js';
import { pippenger } from '../pippenger.js';
import { type CpuArithmetic, cpuShape, workersToStart } from '../plan/cost.js';
import type { Knobs } from '../plan/tuning.js';
import { fullWorkload, NO_TABLES, type SurveyedVector } from '../plan/workload.js';
import { publicPoint } from '../stages/combine-windows.js';
import { arithmeticHere, unlessNoMemory, withAdder } from './adder.js';
import { hornerFor } from './combine-on-cpu.js';
import {
  CpuThreads,
  type LentThreads,
  type SharedThreads,
  SINGLE_THREAD,
  type Threads,
  type WorkerOptions,
} from './cpu-threads.js';
import { type FewSum, multiplyFew } from './few-points.js';
import { isInFormOfSums, loadOnCpu } from './load-points.js';
import { baseIndex, type CpuOutcome, WasmMsm } from './wasm-msm.js';

// a GPU takes its last step from this file
export { WasmHorner } from '../../wasm/points/horner-kernel.js';

/** Stand-in for the adapter of an engine without a GPU. */
const ADAPTER: AdapterDescription = {
  vendor: 'cpu',
  architecture: '',
  device: '',
  description: 'no GPU: computed on the CPU',
  software: true,
};

export class CpuBackend implements Backend {
  readonly kind = 'cpu';
  readonly adapter = ADAPTER;
  readonly memory: MemoryUse = { bases: 0, scalars: 0, scratch: 0, peak: 0 };
  readonly pipelines: readonly CompileTime[] = [];
  readonly selfTest: SelfTest | null = null;
  readonly frees = 0;
  readonly #curve: CurveContext;
  readonly #tuning: Knobs;
  readonly #shared: SharedThreads;
  readonly #threads: CpuThreads;

  /** @param threads those of another engine, or none yet */
  constructor(curve: CurveContext, threads: SharedThreads, workers: WorkerOptions, tuning: Knobs) {
    this.#curve = curve;
    this.#tuning = tuning;
    this.#shared = threads;
    this.#threads = threads.join(() => new CpuThreads(workers));
  }

  /**
   * Returns the arithmetic of sums. Where a content security policy forbids WebAssembly, asking is
   * reported as a violation.
   */
  arithmetic(): CpuArithmetic {
    const { cpuArithmetic = 'auto' } = this.#tuning;
    return cpuArithmetic === 'auto' ? arithmeticHere(this.#curve) : cpuArithmetic;
  }

  /** The threads that vectors may use; null without workers, or where shares are static. */
  get forVectors(): LentThreads | null {
    return this.#threads.forVectors(this.#tuning);
  }

  assertUsable(): void {}

  async load({ source, tables, label, checkSubgroup, areChecked }: LoadRequest, call: Call): Promise<LoadedBases> {
    const length = source.bytes.length / this.#curve.pointBytes;
    // an aborted call must not start workers
    call.checkpoint();
    this.#startWorkers(length);
    const isLoaded = areChecked && !checkSubgroup && isInFormOfSums(source);
    const checked = isLoaded ? source : await loadOnCpu(this.#curve, source, this.#threads, checkSubgroup, call);
    return new LoadedBases({ length, label, tables, source: checked, loader: null });
  }

  /** Starts the workers of a sum over n points, which takes a platform some 25 ms. */
  #startWorkers(n: number): void {
    const { pool, workers, arithmetic } = this.#threads.of(this.#tuning);
    if (pool === null || arithmetic === 'bigint' || n === 0) return;
    const { digits } = cpuShape(fullWorkload(n, this.#curve, NO_TABLES));
    pool.start(Math.min(workers, Math.floor(workersToStart(this.#curve, digits))));
  }

  async place(): Promise<void> {}

  survey(_: LoadedBases, vectors: readonly ScalarVector[]): SurveyedScalars[] {
    return vectors.map((vector) => surveyScalars(this.#curve, vector, NO_TABLES, true));
  }

  async multiply({ bases, surveyed, n, workersAllowed }: MsmRequest, call: Call): Promise<MsmDone> {
    const whileAlive = call.alsoEndedBy(() => bases.assertAlive());
    const ticket = { ...call, size: additionsOf(surveyed) };
    return this.#threads.queue.inTurn(ticket, async (pause) => {
      whileAlive.checkpoint();
      call.progress('msm', 0, 1);
      const computing = performance.now();
      const threads = { ...this.#threads.of(this.#tuning), allowed: workersAllowed, pause };
      const checkpoint = (): void => whileAlive.checkpoint();
      const { sums, waitedMs, lost, ...done } = await multiplyOnCpu(
        this.#curve,
        bases.source,
        surveyed,
        checkpoint,
        threads,
      );
      if (done.noWorkers !== null) this.#threads.warn(done.noWorkers);
      const ms = performance.now() - computing - waitedMs;
      call.progress('msm', 1, 1);
      whileAlive.checkpoint();
      const { wallMs } = call.clock.read();
      const facts = { n, vectors: surveyed.length, wallMs, retried: lost, verified: true, predicted: null };
      return { sums, record: { on: 'cpu', ...done, ...facts, cpuMs: ms }, ms };
    });
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
    this.#shared.leave();
  }
}

const additionsOf = (vectors: readonly SurveyedVector[]): number =>
  vectors.reduce((sum, { load }) => sum + (load.n === 0 ? 0 : cpuShape(load).digits), 0);

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
  ...{ workers: 0, noWorkers: null, chunkRows: 0, lost: null, waitedMs: 0 },
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
  const withoutWorkers = { workers: 0, noWorkers: wantsWorkers ? why : null, chunkRows: 0, lost };
  return { sums, windowBits, windows, entries, arithmetic: 'bigint', ...withoutWorkers, waitedMs };
};
