/** One call of a setup: its threads, its signal and its progress. */
import type { ComputeWorker, Progress } from '../api/calls.js';
import type { CurveContext } from '../curves/curve.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { type Output, type Sink, written } from '../formats/sink.js';
import type { ManySums } from '../msm/cpu/point-sums.js';
import { PointNotOnCurve, SumThreads } from '../msm/cpu/sum-threads.js';
import type { OptionTable } from '../option-table.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import type { Pause } from './groups.js';
import { planRounds, type Tables } from './memory.js';
import { type GpuOptions, gpuRows, ScalingChoice } from './scaling.js';

/** Options of all functions of `webgpu-msm/setup`. */
export interface RunOptions {
  /** Ends the call with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of points or coefficients done, and of all of them. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Most workers beside the thread of the caller. Default: one less than the machine has threads.
   */
  readonly maxWorkers?: number | undefined;
  /** Starts a worker, as `createMsmEngine` has it. */
  readonly createWorker?: (() => ComputeWorker) | undefined;
  /** Called with a warning about a file; by default `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /**
   * Most bytes of main memory for the call: tables, points of a round, and the memory of all threads. Under
   * a limit fewer points are computed at a time, and by fewer workers, where that is needed. Not counted:
   * a file or a result that is bytes; a response, a stream or a file of a server without ranges, which are
   * read to their end first; garbage that the platform has not collected; and what a GPU and its driver
   * take: choose backend `'cpu'` where the limit is hard.
   */
  readonly memoryLimit?: number | undefined;
}

/** Options of functions that write a file. */
export interface SetupOptions extends RunOptions, GpuOptions {
  /** The place of the result; by default bytes in memory. */
  readonly sink?: Sink | undefined;
}

export const runRows = {
  signal: { kind: 'signal' },
  onProgress: { kind: 'function' },
  maxWorkers: { kind: 'integer', range: [0, 1024] },
  createWorker: { kind: 'function' },
  onWarning: { kind: 'function' },
  memoryLimit: { kind: 'integer', range: [1, Number.MAX_SAFE_INTEGER], says: 'a positive integer of bytes' },
} as const satisfies OptionTable<RunOptions>['rows'];

/** All functions of `webgpu-msm/setup` that write a file. */
export const setupOptions = {
  of: 'functions of webgpu-msm/setup',
  rows: {
    ...runRows,
    ...gpuRows,
    // checked where it is opened
    sink: { kind: 'any' },
  },
} as const satisfies OptionTable<SetupOptions>;

/** Pairs of points a and P, and numbers k. */
export interface Butterflies extends Pick<ManySums, 'points' | 'scale' | 'which' | 'multipliers'> {
  /** x‖y of each a, little-endian; `points` are those of P. */
  readonly addends: Uint32Array;
}

/** A key that is made, before it is written. */
export interface KeyPlan {
  /** Number of its points, or of the coefficients of its polynomials. */
  readonly total: number;
  readonly tables: Tables;
  write(run: Run, output: Output): Promise<void>;
}

/** One call. */
export class Run {
  readonly options: RunOptions & GpuOptions;
  /** Sums of one round at most, whose points are in memory at a time. */
  readonly pointsPerRound: number;
  /** Workers beside the thread of the caller. */
  readonly workers: number;
  readonly #threads: SumThreads;
  readonly #scaling: ScalingChoice;
  readonly #phase: string;
  readonly #total: number;
  #done = 0;
  readonly pause: Pause = () => this.#threads.pause();

  /**
   * @param total number of points or coefficients of the call
   * @param plan workers and rounds; by default as many as there are threads, and the longest
   */
  constructor(options: RunOptions & GpuOptions, phase: string, total: number, plan = planRounds(options)) {
    this.options = options;
    this.pointsPerRound = plan.pointsPerRound;
    this.workers = plan.workers;
    this.#phase = phase;
    this.#total = total;
    this.#threads = new SumThreads({ ...options, maxWorkers: plan.workers }, () => assertNotAborted(options.signal));
    this.#scaling = new ScalingChoice(options, total);
  }

  /** Adds to the points or coefficients done. */
  progress(count: number): void {
    this.#done += count;
    this.options.onProgress?.({ phase: this.#phase, done: Math.min(this.#done, this.#total), total: this.#total });
  }

  /** Calls `work` with ranges of indices of one round each, one after the other. */
  async inRounds(count: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
    const { pointsPerRound } = this;
    for (let from = 0; from < count; from += pointsPerRound) await work(from, Math.min(count, from + pointsPerRound));
  }

  /**
   * Computes sums, multiples of points on a GPU where there is one and it is worth it.
   *
   * @param what the place of the points, for errors
   * @throws MsmError `not-on-curve`
   */
  async compute(curve: CurveContext, sums: ManySums, what: string): Promise<Uint32Array<ArrayBuffer>[]> {
    return this.#namingPoints(what, async () => {
      const onCpu = (): Promise<readonly Uint32Array[]> => this.#threads.compute(curve, sums);
      return (await this.#scaling.compute(curve, sums, onCpu)) as Uint32Array<ArrayBuffer>[];
    });
  }

  /**
   * Computes a + k·P and a − k·P for points a and P, one behind the other. Multiples are computed on a GPU
   * where there is one and it is worth it.
   *
   * @param what the place of the points, for errors
   * @throws MsmError `not-on-curve`
   */
  async butterflies(curve: CurveContext, pairs: Butterflies, what: string): Promise<Uint32Array<ArrayBuffer>> {
    const { points, addends, scale, which, multipliers } = pairs;
    const count = which.length;
    const starts = Uint32Array.from({ length: count + 1 }, (_, i) => i);
    const sums = { points, scale, starts, which, multipliers, scales: [scale] };
    return this.#namingPoints(what, async () => {
      let isComputed = false;
      const onCpu = async (): Promise<readonly Uint32Array[]> => {
        isComputed = true;
        return this.#threads.compute(curve, { ...sums, addends });
      };
      const [words] = await this.#scaling.compute(curve, sums, onCpu);
      if (isComputed) return words as Uint32Array<ArrayBuffer>;
      const products = { points: words as Uint32Array, which: new Uint32Array(count), multipliers: [1n] };
      const [results] = await this.#threads.compute(curve, { ...sums, ...products, addends });
      return results as Uint32Array<ArrayBuffer>;
    });
  }

  async #namingPoints<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof PointNotOnCurve) throw badArgument(`${what} has a point that is not on the curve`);
      throw error;
    }
  }

  /** Ends the workers and the device. */
  async end(): Promise<void> {
    this.#threads.destroy();
    await this.#scaling.end();
  }
}

/** Returns a function that lets the event loop run where that is due, and ends the call if its signal was aborted. */
export const pauseOf = ({ signal }: RunOptions): Pause => {
  const slice = new TimeSlice(() => assertNotAborted(signal));
  return async () => {
    if (slice.isOver) await slice.yield();
  };
};

/**
 * Has `work` write a file by the threads of a call.
 *
 * @returns the bytes where there is no sink, and the result of `work`
 */
export const writeBy = async <Result>(
  { sink, ...options }: SetupOptions,
  { phase, total, tables }: { readonly phase: string; readonly total: number; readonly tables: Tables },
  work: (run: Run, output: Output) => Promise<Result>,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer> | undefined; readonly result: Result }> => {
  assertNotAborted(options.signal);
  const run = new Run(options, phase, total, planRounds(options, options.memoryLimit, tables));
  try {
    return await written(sink, async (output) => {
      const result = await work(run, output);
      assertNotAborted(options.signal);
      return result;
    });
  } finally {
    await run.end();
  }
};
