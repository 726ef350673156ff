/** Parts that an engine is composed of, from those below to those above. */
import type { Priority } from '../api/calls.js';
import type { CurveContext } from '../curves/curve.js';
import { notLoaded } from '../errors.js';
import type { Accelerator, Backend } from '../msm/backend.js';
import type { CpuBackend } from '../msm/cpu/cpu-backend.js';
import type { CpuThreads, SharedThreads, WorkerOptions } from '../msm/cpu/cpu-threads.js';
import type { Knobs } from '../msm/plan/tuning.js';
import type { Dispatcher } from '../msm/routing/router.js';
import type { CallQueue } from '../scheduling/call-queue.js';
import { MainMemory } from './main-memory.js';

/** Parts of an engine. */
export interface EngineParts {
  readonly curve: CurveContext;
  readonly queue: CallQueue;
  /** The backend that has the bases: the GPU where there is one. */
  readonly backend: Backend;
  /** The same, where it is a GPU. */
  readonly gpu: Accelerator | null;
  /** The CPU beside a GPU. */
  readonly cpu: LazyCpu | null;
  /** The CPU, whose workers the engine lends to vectors. */
  readonly lends: LazyCpu;
  /** False if the GPU computes all sums. */
  readonly cpuComputes: boolean;
  readonly dispatcher: Dispatcher;
  readonly warmUp: WarmUp;
  /** Main memory of all engines with the same threads. */
  readonly memory: MainMemory;
  /** True to compute small sums over the same bases together. */
  readonly coalesces: boolean;
}

/** Loads the CPU's code. */
const loadCpu = (): Promise<typeof import('../msm/cpu/cpu-backend.js')> =>
  import('../msm/cpu/cpu-backend.js').catch(notLoaded('cpu-backend'));

/** The CPU's threads, of one engine or of those that name it by `deviceOf`. */
export class EngineThreads implements SharedThreads {
  readonly memory = new MainMemory();
  #threads: CpuThreads | null = null;
  #users = 0;

  join(open: () => CpuThreads): CpuThreads {
    this.#threads ??= open();
    this.#users++;
    return this.#threads;
  }

  leave(): void {
    if (--this.#users > 0) return;
    this.#threads?.destroy();
    this.#threads = null;
  }
}

/** Threads of engines, for `deviceOf`. */
export const threadsOfEngines = new WeakMap<object, EngineThreads>();

/** The CPU of an engine, whose code is loaded when it computes. */
export class LazyCpu {
  readonly #make: (module: typeof import('../msm/cpu/cpu-backend.js')) => CpuBackend;
  #loading: Promise<CpuBackend> | null = null;
  #loaded: CpuBackend | null = null;
  #isDestroyed = false;

  constructor(curve: CurveContext, threads: EngineThreads, workers: WorkerOptions, tuning: Knobs) {
    const { memory } = threads;
    const options = { ...workers, withRoom: (most: number) => memory.workers(most) };
    this.#make = ({ CpuBackend }) => new CpuBackend(curve, threads, options, tuning);
  }

  get(): Promise<CpuBackend> {
    this.#loading ??= loadCpu().then(
      (module) => {
        this.#loaded = this.#make(module);
        if (this.#isDestroyed) this.#loaded.destroy();
        return this.#loaded;
      },
      (error: unknown) => {
        // the next call loads it again
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  }

  async trim(): Promise<void> {
    await this.#loaded?.trim();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#loaded?.destroy();
  }
}

/** Compiles the kernels of an engine, as a call of its queue. */
export class WarmUp {
  readonly #queue: CallQueue;
  readonly #backend: Backend;
  readonly #cpu: LazyCpu | null;

  /** @param cpu prepared as well; null where it computes nothing */
  constructor(queue: CallQueue, backend: Backend, cpu: LazyCpu | null) {
    this.#queue = queue;
    this.#backend = backend;
    this.#cpu = cpu;
  }

  /** Compiles the kernels for sums of n scalars. */
  async run(n: number, priority: Priority): Promise<void> {
    const assertUsable = (): void => this.#backend.assertUsable();
    const queued = { kind: 'warmup', priority, deadline: null, bytes: 0, signal: undefined, assertUsable } as const;
    await this.#queue.run(async (call) => {
      await this.#backend.warmUp(n, call);
      await (await this.#cpu?.get())?.warmUp();
    }, queued);
  }
}
