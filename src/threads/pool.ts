/** A pool of workers that compute rounds together with the caller's own thread. */
import { chunkSource, SharedMemory } from './chunks.js';
import type { StartWorker } from './platform.js';
import { type MeasuredRound, type Round, type RoundOutcome, RoundRun } from './round.js';
import { type ChosenWorkers, WorkerCount } from './worker-count.js';
import { WorkerSet } from './worker-set.js';

/** Timeouts of a pool, in milliseconds. */
export interface PoolTimeouts {
  /** Workers end after so long without a round. */
  readonly idleMs: number;
  /**
   * A worker counts as dead if it is silent for so long after all other work is done, plus 20
   * times the longest chunk of the own thread. A page gets no event when a worker is terminated.
   */
  readonly silentMs: number;
  /** A worker counts as dead if it is not ready so long after its start. Default 10,000. */
  readonly startMs?: number;
}

const TIMEOUTS: PoolTimeouts = { idleMs: 10_000, silentMs: 3000 };

const START_MS = 10_000;

/**
 * Runs one round at a time. Tasks are sent to workers as structured clones; the pool reads neither
 * tasks nor results. The chunks of a worker that dies are computed again on the own thread.
 *
 * **Number of workers.** A round uses the number that `run` is given, and fewer while they start.
 * The caller asks `choose` for it, which knows what workers brought to rounds of the same size.
 * To force exactly three for debugging: `createMsmEngine({ backend: 'cpu', maxWorkers: 3, … })`
 * with `tuning: { cpuDistribution: 'static' }`, which waits for all three, and a sum large enough
 * for three (`workersToWake` in msm/plan/cost.ts). `CpuRun.workers` says how many took part.
 *
 * **Size of chunks.** The caller cuts a round. MSMs are cut by `cutRows` (msm/cpu/cpu-threads.ts): with
 * `tuning.cpuDistribution` `static` into one chunk for each thread, with `dynamic` by the size of
 * the round; with either into chunks of `tuning.cpuChunk` rows of buckets if that is set.
 */
export class Pool<Task, Result> {
  readonly #sharesMemory: boolean;
  readonly #timeouts: PoolTimeouts;
  readonly #workers: WorkerSet<Task, Result>;
  readonly #inputs = new SharedMemory();
  readonly #counters = new SharedMemory();
  #isBusy = false;
  #isReserved = false;
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** Workers that the rounds since the last end of all workers justify starting. */
  #earned = 0;
  /** Measurements, by the size of rounds. */
  readonly #counts = new Map<number, WorkerCount>();

  /**
   * @param sharesMemory whether workers can be given shared memory
   * @param fallback loads another way to start workers, used if `start` leads to none that is
   *   ever ready
   */
  constructor(
    start: StartWorker,
    sharesMemory: boolean,
    timeouts = TIMEOUTS,
    fallback: (() => Promise<StartWorker>) | null = null,
  ) {
    this.#sharesMemory = sharesMemory;
    this.#timeouts = timeouts;
    const { startMs = START_MS } = timeouts;
    // an ended worker may read and write shared memory for a moment longer
    this.#workers = new WorkerSet({ start, fallback, startMs }, () => this.#dropMemory());
  }

  /** Whether the input of workers should be in memory from `takeInput`. */
  get sharesMemory(): boolean {
    return this.#sharesMemory;
  }

  /** Returns `words` of shared memory for the input of the next round, valid until it is over. */
  takeInput(words: number): Uint32Array {
    this.#assertIdle();
    return this.#inputs.take(words);
  }

  #assertIdle(): void {
    if (this.#isBusy) throw new Error('this pool already runs a round; wait until it is over');
  }

  /** Number of workers, those that are starting included. */
  get size(): number {
    return this.#workers.all.length;
  }

  /** True while a round runs, or the pool is reserved for one. */
  get isBusy(): boolean {
    return this.#isBusy || this.#isReserved;
  }

  /** Reserves the pool for a round whose input is prepared in turns, until `run` or `release`. */
  reserve(): void {
    this.#assertIdle();
    this.#isReserved = true;
  }

  /**
   * Counts a round that justifies starting `workers` workers, a number with a fraction. So many
   * small rounds start as many workers as a large one.
   *
   * @returns the most workers that run, or that all rounds so far justify starting
   */
  afford(workers: number): number {
    this.#earned += workers;
    return Math.max(this.size, Math.floor(this.#earned));
  }

  /**
   * Chooses the workers of the next round, by what they brought to rounds of its size.
   *
   * @param work of the round, in the unit of `OwnThread.work`
   * @param most number of workers that the work justifies
   */
  choose(work: number, most: number): ChosenWorkers {
    return this.#countOf(work).choose(most);
  }

  /**
   * Notes what a round measured.
   *
   * @param estimate the work that `choose` was given
   * @param work all work that the round did
   */
  note({ aloneRate, aloneWork, togetherMs }: MeasuredRound, workers: number, estimate: number, work: number): void {
    const speedup = (work - aloneWork) / aloneRate / togetherMs;
    // a clock that stands still measures nothing
    if (Number.isFinite(speedup) && speedup > 0) this.#countOf(estimate).note(workers, speedup);
  }

  /** Rounds of less than four times the work are of one size. */
  #countOf(work: number): WorkerCount {
    const size = Math.floor(Math.log2(work) / 2);
    const count = this.#counts.get(size) ?? new WorkerCount();
    this.#counts.set(size, count);
    return count;
  }

  /** Starts workers up to a number, which are ready then when a round begins. */
  start(workers: number): void {
    if (this.#isBusy) return;
    clearTimeout(this.#idle);
    this.#workers.startUpTo(workers);
    this.#endWhenIdle();
  }

  /** Ends a reservation without a round. */
  release(): void {
    this.#isReserved = false;
  }

  /** True if no more workers are started, because too many died. */
  get isOff(): boolean {
    return this.#workers.isOff;
  }

  /** Fate of the last worker if no more are started; else null. */
  get whyOff(): string | null {
    return this.#workers.whyOff;
  }

  /**
   * Runs a round with at most `maxWorkers` workers. Missing workers are started, and take part as
   * soon as they are ready.
   *
   * @throws what `checkpoint` or the own thread throws; workers that still compute are ended then
   */
  async run(round: Round<Task, Result>, maxWorkers: number): Promise<RoundOutcome<Result>> {
    this.#assertIdle();
    clearTimeout(this.#idle);
    const counters = this.#sharesMemory ? this.#counters : null;
    const source = chunkSource(round.distribution, round.chunks, maxWorkers + 1, counters);
    const { silentMs } = this.#timeouts;
    const running = new RoundRun(round, source, this.#workers, { maxWorkers, silentMs });
    this.#isReserved = false;
    this.#isBusy = true;
    this.#workers.round = running;
    try {
      return await running.run();
    } finally {
      this.#isBusy = false;
      this.#workers.round = null;
      this.#workers.endBusy();
      this.#endWhenIdle();
    }
  }

  /** Lets idle workers drop what they prepared of a setup; busy ones drop it for others in time. */
  forget(setup: unknown): void {
    for (const worker of this.#workers.all) if (worker.state === 'idle') worker.forget(setup);
  }

  #endWhenIdle(): void {
    this.#idle = setTimeout(() => {
      this.#workers.loseLate();
      this.destroy();
    }, this.#timeouts.idleMs);
    // in Node the timer must not keep the process alive
    (this.#idle as { unref?(): void }).unref?.();
  }

  /** Ends all workers; the next round starts new ones. */
  destroy(): void {
    clearTimeout(this.#idle);
    this.#earned = 0;
    this.#workers.endAll();
    this.#dropMemory();
  }

  #dropMemory(): void {
    this.#inputs.drop();
    this.#counters.drop();
  }
}
