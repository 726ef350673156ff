/** The worker threads of one engine: how they start, and how a round is cut into chunks for them. */
import type { ComputeWorker } from '../../api/calls.js';
import type { Tuning } from '../../api/device.js';
import { warnBy } from '../../errors.js';
import { type Pause, TurnQueue } from '../../scheduling/turn-queue.js';
import type { Distribution } from '../../threads/chunks.js';
import {
  canShare,
  nodeThreads,
  nodeWorkerOptions,
  type StartWorker,
  startFromText,
  threadsHere,
} from '../../threads/platform.js';
import { Pool } from '../../threads/pool.js';
import type { Knobs } from '../plan/tuning.js';
import { dropIdleAdders } from './adder.js';
import type { RoundTask, WindowSums } from './share.js';

/** A pool whose workers add up buckets, and compute vectors. */
export type CpuPool = Pool<RoundTask | VectorTask, WindowSums | null>;

/** A program on vectors, or chains of operations on some, which this module only passes on. */
type VectorTask = { readonly program: unknown } | { readonly chains: unknown };

/** Threads that sums lend to vectors. */
export interface LentThreads {
  readonly pool: CpuPool;
  /** Workers at most. */
  readonly most: number;
  /** Turns of the CPU, which sums and vectors take. */
  readonly queue: TurnQueue;
}

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
  /** Returns how many of some workers have memory for sums; absent: all. */
  readonly withRoom?: ((most: number) => number) | undefined;
}

/** Owns the pool of an engine. The first load or sum that is large enough starts workers. */
export class CpuThreads {
  /** Sums and vectors that wait for the CPU. */
  readonly queue = new TurnQueue();
  readonly #options: WorkerOptions;
  readonly #warned = new Set<string>();
  #pool: CpuPool | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Returns the threads of a call with these knobs. */
  of({ cpuDistribution = 'dynamic', cpuChunk = 0, cpuArithmetic: arithmetic }: Knobs): Threads {
    const { maxWorkers = threadsHere() - 1, createWorker, withRoom } = this.#options;
    const workers = withRoom?.(maxWorkers) ?? maxWorkers;
    const alone = { ...SINGLE_THREAD, arithmetic };
    if (workers === 0) return alone;
    this.#pool ??= openPool(createWorker);
    if (this.#pool === null) return { ...alone, whyNone: 'this platform has no workers' };
    return { pool: this.#pool, workers, distribution: cpuDistribution, chunk: cpuChunk || null, arithmetic };
  }

  /** Returns the threads that vectors may use; null if there are no workers. */
  forVectors(knobs: Knobs): LentThreads | null {
    const { pool, workers, distribution } = this.of(knobs);
    if (pool === null || distribution !== 'dynamic') return null;
    return workers > 0 ? { pool, most: workers, queue: this.queue } : null;
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

  /** Ends the workers, unless they compute, and frees memory that is kept for sums. */
  trim(): void {
    dropIdleAdders();
    if (!this.#pool?.isBusy) this.#pool?.destroy();
  }

  /** Ends the workers, and frees memory that is kept for sums. */
  destroy(): void {
    dropIdleAdders();
    this.#pool?.destroy();
  }
}

/** Threads of engines that share them; the last engine that leaves ends them. */
export interface SharedThreads {
  join(open: () => CpuThreads): CpuThreads;
  leave(): void;
}

/**
 * Opens a pool of workers; null where there are no threads.
 *
 * @param sharesMemory false for workers that get all by messages
 */
export const openPool = <Task, Result>(
  createWorker: WorkerOptions['createWorker'],
  sharesMemory = canShare(),
): Pool<Task, Result> | null => {
  const start = createWorker ?? workerStarter();
  if (start === null) return null;
  // a caller that brings its own workers wants no others
  return new Pool(start, sharesMemory, undefined, createWorker === undefined ? textStarter : null);
};

/** How rows are distributed over threads. */
interface Cutting {
  /** From `tuning.cpuDistribution`. */
  readonly distribution: Distribution;
  /** Rows per chunk, from `tuning.cpuChunk`; null: by the size of the round, or equal shares. */
  readonly chunk: number | null;
}

/** Least and most rows per chunk. */
const chunkRange = [1, 256] as const;

/** Rows of the next chunk of a dynamic round, in equal shares of the rows that are left. */
const PART_OF_SHARE = 2 / 3;

/** Least chunks that one thread's equal share of all rows would have: how close threads finish. */
const LEAST_CHUNKS = 48;

/** Part of the rows that the own thread computes alone where a round measures its workers. */
const ALONE = 1 / 32;

/** Yields the sizes of chunks of `rows` rows. */
function* sizesOf(
  rows: number,
  threads: number,
  { distribution, chunk }: Cutting,
  measures: boolean,
): Generator<number> {
  const least = Math.max(1, Math.floor(rows / (threads * LEAST_CHUNKS)));
  const share = Math.ceil(rows / threads);
  // the first chunk also takes the points into memory, so that the second is measured
  const alone =
    measures && chunk === null ? [least, Math.ceil(ALONE * rows)].slice(0, Math.max(0, rows - threads)) : [];
  yield* alone;
  for (let left = rows - alone.reduce((sum, size) => sum + size, 0); left > 0; ) {
    const next = Math.max(least, Math.min(chunkRange[1], Math.ceil((PART_OF_SHARE * left) / threads)));
    const size = Math.min(left, chunk ?? (distribution === 'static' ? share : next));
    yield size;
    left -= size;
  }
}

/**
 * Cuts `rows` for the own thread and `workers` workers. Chunks of a dynamic round become smaller:
 * each has a fixed part of what is left (guided self-scheduling, Polychronopoulos and Kuck 1987).
 *
 * @param measures true if the own thread computes two short chunks first, which measure its speed
 * @returns the first row of each chunk, and behind them the number of rows
 */
export const cutRows = (rows: number, workers: number, cutting: Cutting, measures = false): readonly number[] => {
  const cuts = [0];
  let end = 0;
  for (const size of sizesOf(rows, workers + 1, cutting, measures)) {
    end += size;
    cuts.push(end);
  }
  return cuts;
};

const NAME = 'webgpu-msm';

/** Returns what starts the worker from its file; null where there are no threads. */
export const workerStarter = (): StartWorker | null => {
  const node = nodeThreads();
  if (node) {
    // another URL than the one below: a bundler would emit a second file for the same literal
    const url = new URL(import.meta.url.replace(/[^/]*$/, 'webgpu-msm-worker.js'));
    return () => new node.Worker(url, nodeWorkerOptions(NAME));
  }
  if (typeof Worker !== 'function') return null;
  // literals only: vite does not bundle a worker whose URL or options it cannot read
  return () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'webgpu-msm' });
};

/**
 * Loads what starts the worker from its text, for where its file is not found: a bundler may leave
 * the file out, or a server may have it on another origin.
 */
const textStarter = async (): Promise<StartWorker> => {
  const { workerText } = await import('./worker-text.js');
  return startFromText(workerText, NAME);
};
