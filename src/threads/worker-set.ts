/** The workers of a pool: started when they are needed, counted, and replaced when they die. */

import type { ComputeWorker } from '../api/calls.js';
import type { Assignment } from './chunks.js';
import { isOfNode, listenTo, type StartWorker, sendTo, type WorkerListener } from './platform.js';
import type { Begin, Forget, FromWorker, More } from './serve.js';

/** Deaths in a row after which no more workers are started. */
const MAX_DEATHS = 2;

/** A round, told of what happens to workers while it runs. */
export interface RoundListener<Task, Result> {
  /** A worker can take chunks now. */
  ready(worker: WorkerHandle<Task, Result>): void;
  /** A busy worker sent a message. */
  message(worker: WorkerHandle<Task, Result>, message: FromWorker<Result>): void;
  /** A worker died in the middle of its part of the round. */
  lost(worker: WorkerHandle<Task, Result>): void;
  /** A worker could not be started, or died; `why` is for the record of the call. */
  death(why: string): void;
  /** Workers can be started again, in another way. */
  restarted(): void;
  /** The state of some worker changed. */
  changed(): void;
}

/** Ways to start workers. */
interface WorkerStarts {
  readonly start: StartWorker;
  /** Loads another way, for where `start` leads to no worker that is ever ready. */
  readonly fallback: (() => Promise<StartWorker>) | null;
  /** A worker that is not ready after so long is another script, or none; in milliseconds. */
  readonly startMs: number;
}

export class WorkerSet<Task, Result> {
  /** The round that runs; null between rounds. */
  round: RoundListener<Task, Result> | null = null;
  /** null while the fallback is loaded. */
  #start: StartWorker | null;
  /** null once it is used, or a worker was ready. */
  #fallback: (() => Promise<StartWorker>) | null;
  readonly #startMs: number;
  readonly #onBusyEnd: () => void;
  #workers: WorkerHandle<Task, Result>[] = [];
  #numbers = 0;
  #deaths = 0;
  #whyOff: string | null = null;
  /** Most workers that there is memory for. */
  #most = Number.POSITIVE_INFINITY;

  /** @param onBusyEnd called when a worker is ended while it computes, before it is terminated */
  constructor({ start, fallback, startMs }: WorkerStarts, onBusyEnd: () => void) {
    this.#start = start;
    this.#fallback = fallback;
    this.#startMs = startMs;
    this.#onBusyEnd = onBusyEnd;
  }

  get all(): readonly WorkerHandle<Task, Result>[] {
    return this.#workers;
  }

  /** True if no more workers are started. */
  get isOff(): boolean {
    return this.#deaths >= MAX_DEATHS;
  }

  /** Reason why no more workers are started; null if they are. */
  get whyOff(): string | null {
    return this.isOff ? this.#whyOff : null;
  }

  /** Returns the position of a worker in the list, from 1. */
  rankOf(worker: WorkerHandle<Task, Result>): number {
    return 1 + this.#workers.indexOf(worker);
  }

  /** Starts workers until there are `count`, or no more can be started. */
  startUpTo(count: number): void {
    const most = Math.min(count, this.#most);
    for (let i = this.#workers.length; i < most && !this.isOff && this.#start !== null; i++) {
      this.#add(this.#start);
    }
  }

  #add(start: StartWorker): void {
    try {
      // numbered before it is started: one that cannot be started has a number as well
      const number = ++this.#numbers;
      const worker: WorkerHandle<Task, Result> = new WorkerHandle(number, start(), {
        message: (message) => this.#message(worker, message),
        death: (why) => this.lose(worker, why),
      });
      this.#workers.push(worker);
    } catch (error) {
      if (this.#useFallback()) return;
      this.#countDeath(`a worker could not be started: ${String(error)}`);
    }
  }

  #message(worker: WorkerHandle<Task, Result>, message: FromWorker<Result>): void {
    // the script may be a foreign one, which sends anything
    if (worker.state === 'dead' || typeof message !== 'object' || message === null) return;
    if (message.say === 'ready') {
      worker.ready();
      this.#fallback = null;
      this.round?.ready(worker);
    } else if (worker.state === 'busy') this.round?.message(worker, message);
  }

  /** Records that a worker did its part. */
  succeeded(worker: WorkerHandle<Task, Result>): void {
    worker.done();
    this.#deaths = 0;
  }

  /** Ends a worker that is dead or does not answer. */
  lose(worker: WorkerHandle<Task, Result>, why: string): void {
    const { state } = worker;
    if (state === 'dead') return;
    if (state === 'starting' && this.#useFallback()) return;
    this.end(worker);
    // ending an idle worker from outside is not an error
    if (state !== 'idle') this.#countDeath(`worker ${worker.number} ${why}`);
    if (state === 'busy') this.round?.lost(worker);
    this.round?.changed();
  }

  /**
   * Ends a worker that got no memory in a round. The others go on; no more are started than these,
   * until all have ended.
   */
  dismiss(worker: WorkerHandle<Task, Result>, why: string): void {
    this.end(worker);
    this.#most = this.#workers.length;
    this.round?.death(`worker ${worker.number} ${why}`);
    this.round?.lost(worker);
    this.round?.changed();
  }

  /** Ends workers that take too long to start. */
  loseLate(): void {
    const now = performance.now();
    for (const worker of [...this.#workers]) {
      const isLate = worker.state === 'starting' && now - worker.startedAt > this.#startMs;
      if (isLate) this.lose(worker, 'did not get ready');
    }
  }

  #countDeath(why: string): void {
    this.#deaths++;
    this.#whyOff = why;
    this.round?.death(why);
  }

  /** Starts over with the fallback. @returns false if there is none left */
  #useFallback(): boolean {
    const fallback = this.#fallback;
    if (fallback === null) return false;
    this.#fallback = null;
    this.#start = null;
    this.endAll();
    this.#numbers = 0;
    fallback().then(
      (start) => {
        this.#start = start;
        this.round?.restarted();
      },
      (error: unknown) => {
        this.#deaths = MAX_DEATHS;
        this.#whyOff = String(error);
      },
    );
    return true;
  }

  end(worker: WorkerHandle<Task, Result>): void {
    if (worker.state === 'busy') this.#onBusyEnd();
    this.#workers = this.#workers.filter((other) => other !== worker);
    worker.end();
  }

  endAll(): void {
    for (const worker of [...this.#workers]) this.end(worker);
    this.#most = Number.POSITIVE_INFINITY;
  }

  /** Ends the workers that still compute. */
  endBusy(): void {
    for (const worker of this.#workers.filter(({ state }) => state === 'busy')) this.end(worker);
  }
}

/* One worker of a pool, seen from the thread that started it. */

/** Setups that a worker keeps prepared: of a key both groups, its vectors, and those of others. */
const MOST_SETUPS = 6;

/** Value that a worker needs for a chunk. */
export interface ChunkInput {
  readonly value: unknown;
  /** Buffers in the value, which move to the worker. */
  readonly transfer: readonly ArrayBuffer[];
}

/** `busy`: the worker computes its part of a round. */
type WorkerState = 'starting' | 'idle' | 'busy' | 'dead';

export class WorkerHandle<Task, Result> {
  /** Number of the worker in its pool, from 1. */
  readonly number: number;
  readonly startedAt = performance.now();
  readonly #worker: ComputeWorker;
  #state: WorkerState = 'starting';
  /** Setups that the worker has prepared, with their numbers; the last one used is the last. */
  readonly #setups = new Map<unknown, number>();
  #nextSetup = 0;
  #isAsking = false;
  #rounds = 0;

  /** @throws TypeError if `worker` is no worker */
  constructor(number: number, worker: ComputeWorker, listener: WorkerListener<FromWorker<Result>>) {
    this.number = number;
    this.#worker = worker;
    listenTo(worker, listener);
  }

  get state(): WorkerState {
    return this.#state;
  }

  /** True while the worker waits for the answer to `next`. */
  get isAsking(): boolean {
    return this.#isAsking;
  }

  /** True between rounds, once its code has run in one: engines compile it in its first round. */
  get isWarm(): boolean {
    return this.#state === 'idle' && this.#rounds > 0;
  }

  ready(): void {
    this.#state = 'idle';
  }

  /** @param input of the first chunk; null: the round has none for its chunks */
  begin(setup: unknown, task: Task, assignment: Assignment, input: ChunkInput | null): void {
    const known = this.#setups.get(setup);
    const id = known ?? this.#nextSetup++;
    this.#setups.delete(setup);
    this.#setups.set(setup, id);
    const [oldest] = this.#setups.keys();
    if (this.#setups.size > MOST_SETUPS) this.forget(oldest);
    this.#state = 'busy';
    this.#isAsking = false;
    if (isOfNode(this.#worker)) this.#worker.ref();
    const message = {
      say: 'begin',
      id,
      setup: known === undefined ? setup : null,
      task,
      assignment,
      input: input?.value ?? null,
    } satisfies Begin<Task>;
    sendTo(this.#worker, message, input?.transfer ?? []);
  }

  /** Lets the worker drop what it prepared of a setup. */
  forget(setup: unknown): void {
    const id = this.#setups.get(setup);
    if (id === undefined) return;
    this.#setups.delete(setup);
    this.#worker.postMessage({ say: 'forget', id } satisfies Forget);
  }

  asks(): void {
    this.#isAsking = true;
  }

  answer(chunk: number | null, input: ChunkInput | null): void {
    this.#isAsking = false;
    const message = { say: 'more', chunk, input: input?.value ?? null } satisfies More;
    sendTo(this.#worker, message, input?.transfer ?? []);
  }

  done(): void {
    this.#state = 'idle';
    this.#rounds++;
    if (isOfNode(this.#worker)) this.#worker.unref();
  }

  end(): void {
    this.#state = 'dead';
    this.#worker.terminate();
  }
}
