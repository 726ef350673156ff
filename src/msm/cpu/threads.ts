/** The worker threads of one engine. */

import type { ComputeWorker } from '../../api/sharing.js';
import type { Tuning } from '../../api/tuning.js';
import { warnBy } from '../../errors.js';
import { type Pause, TurnQueue } from '../../scheduling/turn-queue.js';
import { canShare, threadsHere } from '../../threads/platform.js';
import { Pool } from '../../threads/pool.js';
import type { Knobs } from '../plan/tuning.js';
import type { Cutting } from './cut.js';
import type { RoundTask, WindowSums } from './share.js';
import { textStarter, workerStarter } from './start-worker.js';

/** A pool whose workers add up buckets. */
export type CpuPool = Pool<RoundTask, WindowSums>;

/** Threads of one call, and how its rounds are cut for them. */
export interface Threads extends Cutting {
  /** null without workers. */
  readonly pool: CpuPool | null;
  /** Workers at most, beside the own thread. */
  readonly workers: number;
  /** Reason why there are no workers though some are permitted. */
  readonly whyNone?: string;
  /** Returns how many workers may compute at the moment; if absent, all. */
  readonly allowed?: (() => number) | undefined;
  /** From `tuning.cpuArithmetic`. */
  readonly arithmetic?: Tuning['cpuArithmetic'] | undefined;
  /** Called between time slices, to let more urgent calls go first. */
  readonly pause?: Pause | undefined;
}

export const SINGLE_THREAD: Threads = {
  pool: null,
  workers: 0,
  distribution: 'dynamic',
  chunk: null,
};

/** Options of `createMsmEngine` about workers. */
export interface WorkerOptions {
  readonly maxWorkers?: number | undefined;
  readonly createWorker?: (() => ComputeWorker) | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Owns the pool of an engine. The first load or sum that is large enough starts workers. */
export class CpuThreads {
  /** Sums that wait for the CPU. */
  readonly queue = new TurnQueue();
  readonly #options: WorkerOptions;
  readonly #warned = new Set<string>();
  #pool: CpuPool | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Returns the threads of a call with these knobs. */
  of({ cpuDistribution = 'dynamic', cpuChunk = 0, cpuArithmetic: arithmetic }: Knobs): Threads {
    const { maxWorkers: workers = threadsHere() - 1, createWorker } = this.#options;
    const start = createWorker ?? workerStarter();
    const alone = { ...SINGLE_THREAD, arithmetic };
    if (workers === 0) return alone;
    if (start === null) return { ...alone, whyNone: 'this platform has no workers' };
    // a caller that brings its own workers wants no others
    const fallback = createWorker === undefined ? textStarter : null;
    this.#pool ??= new Pool(start, canShare(), undefined, fallback);
    return { pool: this.#pool, workers, distribution: cpuDistribution, chunk: cpuChunk || null, arithmetic };
  }

  /** Warns the caller, once per reason, that large sums are computed without workers. */
  warn(why: string): void {
    if (this.#warned.has(why)) return;
    this.#warned.add(why);
    const { onWarning } = this.#options;
    warnBy(
      onWarning,
      `large sums on the CPU have no workers: ${why}. Serve webgpu-msm-worker.js of the package beside index.js, or pass createWorker.`,
    );
  }

  /** Ends the workers, unless they compute. */
  trim(): void {
    if (!this.#pool?.isBusy) this.#pool?.destroy();
  }

  /** Ends the workers. */
  destroy(): void {
    this.#pool?.destroy();
  }
}
