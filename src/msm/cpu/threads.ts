/** The threads of an engine: none until there is enough to do. */
import type { ComputeWorker } from '../../api/sharing.js';
import { canShare, textStarter, threadsHere, workerStarter } from '../../threads/platform.js';
import { WorkerPool } from '../../threads/pool.js';
import type { Knobs } from '../plan/tuning.js';
import { SINGLE_THREAD, type Threads } from './multiply.js';
import { SumQueue } from './sum-line.js';

/** Options of `createMsmEngine` that are about workers. */
export interface WorkerOptions {
  readonly maxWorkers?: number | undefined;
  readonly createWorker?: (() => ComputeWorker) | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

export class CpuThreads {
  /** Who has them. */
  readonly line = new SumQueue();
  readonly #options: WorkerOptions;
  readonly #warned = new Set<string>();
  #pool: WorkerPool | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** How a call is computed with such knobs; workers are started when it has been found to be large. */
  of({ cpuDistribution = 'dynamic', cpuChunk = 0 }: Knobs): Threads {
    const { maxWorkers: workers = threadsHere() - 1, createWorker } = this.#options;
    const start = createWorker ?? workerStarter();
    if (workers === 0) return SINGLE_THREAD;
    if (start === null) return { ...SINGLE_THREAD, whyNone: 'nothing here starts workers' };
    // a caller's own way to start them is the only one
    this.#pool ??= new WorkerPool(start, canShare(), undefined, createWorker === undefined ? textStarter : null);
    return { pool: this.#pool, workers, distribution: cpuDistribution, chunk: cpuChunk || null };
  }

  /** Tells the caller, once for each reason, that large sums are computed without workers. */
  warn(why: string): void {
    if (this.#warned.has(why)) return;
    this.#warned.add(why);
    const { onWarning = console.warn } = this.#options;
    try {
      onWarning(`webgpu-msm: large sums on the CPU have no workers: ${why}. README.md, "Workers", says what to do.`);
    } catch {
      // the sum is right all the same
    }
  }

  /** Ends the workers, unless they are at work. */
  trim(): void {
    if (!this.#pool?.isBusy) this.#pool?.destroy();
  }

  /** Ends the workers. */
  destroy(): void {
    this.#pool?.destroy();
  }
}
