/** The threads of an engine: none until there is enough to do. */
import type { ComputeWorker } from '../api.js';
import type { Knobs } from '../plan/tuning.js';
import { ALONE, type Threads } from './multiply.js';
import { canShare, threadsHere, workerStarter } from './platform.js';
import { WorkerPool } from './pool.js';
import { SumLine } from './sum-line.js';

/** Options of `createMsmEngine` that are about workers. */
export interface WorkerOptions {
  readonly maxWorkers?: number | undefined;
  readonly createWorker?: (() => ComputeWorker) | undefined;
}

export class CpuThreads {
  /** Who has them. */
  readonly line = new SumLine();
  readonly #options: WorkerOptions;
  #pool: WorkerPool | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** How a call is computed with such knobs; workers are started when it has been found to be large. */
  of({ cpuDistribution = 'dynamic', cpuChunk = 0 }: Knobs): Threads {
    const { maxWorkers: workers = threadsHere() - 1, createWorker } = this.#options;
    const start = createWorker ?? workerStarter();
    if (workers === 0 || start === null) return ALONE;
    this.#pool ??= new WorkerPool(start, canShare());
    return { pool: this.#pool, workers, distribution: cpuDistribution, chunk: cpuChunk || null };
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
