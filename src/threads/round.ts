/** One round: a task whose chunks the caller's own thread and the workers compute together. */

import { ALL_WORKERS, type ChunkSource, type Distribution } from './chunks.js';
import type { FromWorker } from './serve.js';
import type { ChunkInput, RoundListener, WorkerHandle, WorkerSet } from './worker-set.js';

/** Computes chunks on the caller's own thread. */
export interface OwnThread<Result> {
  /** Computes a chunk. @returns how long it took, in milliseconds */
  add(chunk: number): Promise<number>;
  /** Work of all chunks added so far, in a unit of the round. */
  readonly work: number;
  /** Returns the result of all chunks added so far. */
  settle(): Promise<Result>;
}

export interface Round<Task, Result> {
  /** Value that workers prepare themselves with; sent only when it is another than before. */
  readonly setup: unknown;
  /** Value that each worker is sent at the beginning of the round. */
  readonly task: Task;
  /** Number of chunks; with `static` the own thread has the first. */
  readonly chunks: number;
  readonly distribution: Distribution;
  /**
   * True if the own thread computes the first two chunks alone, before workers begin, to measure
   * what they bring. `static` ignores it.
   */
  readonly measures: boolean;
  /**
   * Returns what a worker needs for a chunk, beside the task. Only for dynamic rounds of a pool without shared
   * memory, whose chunks are handed out by messages.
   */
  inputOf?: ((chunk: number) => ChunkInput) | undefined;
  /** Begins a part of the round on the own thread. */
  own(): OwnThread<Result>;
  /** Returns the time in milliseconds, which stands still while other rounds go first. */
  now(): number;
  /**
   * Returns how many workers may compute; asked after each chunk of the own thread. The others
   * wait before their next chunk, until all chunks are taken. `static` ignores it.
   */
  allowed?: (() => number) | undefined;
  /** Called when a worker is lost that has begun its part; its chunks are computed again. */
  onLost?: (() => void) | undefined;
  /** Called and awaited while the round waits; ends the round by throwing. */
  checkpoint(): Promise<void>;
  /** Lets the event loop run, so that messages arrive, and passes a checkpoint. */
  turn(): Promise<void>;
}

/** Work and time of the own thread alone, and of all threads after that. */
export interface MeasuredRound {
  /** Work per millisecond of the own thread in its second chunk: the first prepares its memory. */
  readonly aloneRate: number;
  /** Work of the own thread before workers began. */
  readonly aloneWork: number;
  /** Milliseconds from when workers began until all results were there. */
  readonly togetherMs: number;
}

export interface RoundOutcome<Result> {
  /** Results of all threads, in no order; together they cover each chunk exactly once. */
  readonly results: readonly Result[];
  /** Numbers of the workers that computed at least one chunk. */
  readonly workers: readonly number[];
  /** Why workers were lost; null if none was. */
  readonly lost: string | null;
  /** null if the round measured nothing: workers were lost, held back, or not yet warm. */
  readonly measured: MeasuredRound | null;
}

/** How often the own thread calls `checkpoint` while it waits for workers, in milliseconds. */
const CHECK_MS = 10;

/**
 * How long the own thread computes before it hears workers that share no memory with it, in
 * milliseconds. A turn of the event loop takes Chromium 0.7 ms where all cores are busy.
 */
const HEAR_MS = 3;

/** Multiple of the own thread's longest chunk or share until a silent worker counts as dead. */
const SILENT_CHUNKS = 20;

/** Runs one round. */
export class RoundRun<Task, Result> implements RoundListener<Task, Result> {
  readonly #round: Round<Task, Result>;
  readonly #source: ChunkSource;
  readonly #workers: WorkerSet<Task, Result>;
  readonly #maxWorkers: number;
  readonly #silentMs: number;
  #allowed = 0;
  #onChange: () => void = () => undefined;
  readonly #results: Result[] = [];
  readonly #participants: number[] = [];
  readonly #deaths: string[] = [];
  /** Chunks of lost workers, to be computed again. */
  readonly #again: number[] = [];
  #own: OwnThread<Result> | null = null;
  #longestMs = 0;
  /** Milliseconds that the own thread has computed since it last heard workers. */
  #unheardMs = 0;
  /** False once a worker was held back. */
  #hadAll = true;

  constructor(
    round: Round<Task, Result>,
    source: ChunkSource,
    workers: WorkerSet<Task, Result>,
    { maxWorkers, silentMs }: { readonly maxWorkers: number; readonly silentMs: number },
  ) {
    this.#round = round;
    this.#source = source;
    this.#workers = workers;
    this.#maxWorkers = maxWorkers;
    this.#silentMs = silentMs;
  }

  async run(): Promise<RoundOutcome<Result>> {
    // an aborted call must not start workers
    await this.#round.checkpoint();
    const alone = this.#measures ? await this.#computeAlone() : null;
    const begun = this.#round.now();
    this.#adjust();
    for (let chunk = this.#source.takeOwn(); chunk !== null; chunk = this.#source.takeOwn()) {
      await this.#compute(chunk);
      await this.#hear();
      this.#adjust();
    }
    this.#release();
    await this.#settleOwn();
    await this.#awaitWorkers();
    for (const chunk of [...this.#again, ...this.#source.takeRest()]) await this.#compute(chunk);
    await this.#settleOwn();
    const lost = this.#deaths.length === 0 ? null : this.#deaths.join('; ');
    const isTelling = lost === null && this.#hadAll;
    return {
      results: this.#results,
      workers: this.#participants,
      lost,
      measured: alone !== null && isTelling ? { ...alone, togetherMs: this.#round.now() - begun } : null,
    };
  }

  get #measures(): boolean {
    const workers = this.#workers.all.slice(0, this.#maxWorkers);
    const areReady = workers.length === this.#maxWorkers && workers.every(({ isWarm }) => isWarm);
    return this.#round.measures && !this.#source.isStatic && areReady;
  }

  /** Computes two chunks before workers begin. @returns null if there are no two */
  async #computeAlone(): Promise<Omit<MeasuredRound, 'togetherMs'> | null> {
    const own = this.#round.own();
    this.#own = own;
    const rates: number[] = [];
    for (const _ of [0, 1]) {
      const chunk = this.#source.takeOwn();
      if (chunk === null) return null;
      const before = own.work;
      const begun = this.#round.now();
      await this.#compute(chunk);
      rates.push((own.work - before) / (this.#round.now() - begun));
    }
    return { aloneRate: rates[1] as number, aloneWork: own.work };
  }

  async #compute(chunk: number): Promise<void> {
    this.#own ??= this.#round.own();
    const ms = await this.#own.add(chunk);
    this.#unheardMs += ms;
    // a worker with a fixed share answers once, after all its chunks
    this.#longestMs = this.#source.isStatic ? this.#longestMs + ms : Math.max(this.#longestMs, ms);
  }

  /** Hears workers that ask for chunks by messages, and would else wait for a whole time slice. */
  async #hear(): Promise<void> {
    const isDue = this.#source.isByMessages && this.#unheardMs >= HEAR_MS;
    if (!isDue || this.#workers.all.every(({ state }) => state === 'idle')) return;
    this.#unheardMs = 0;
    await this.#round.turn();
  }

  async #settleOwn(): Promise<void> {
    if (this.#own !== null) this.#results.push(await this.#own.settle());
    this.#own = null;
  }

  /** Waits until no worker computes; ends those that stay silent. */
  async #awaitWorkers(): Promise<void> {
    const { isStatic } = this.#source;
    const since = performance.now();
    const patienceMs = this.#silentMs + SILENT_CHUNKS * this.#longestMs;
    for (;;) {
      const open = this.#workers.all.filter(({ state }) => state === 'busy' || (isStatic && state === 'starting'));
      if (open.length === 0) return;
      if (performance.now() - since > patienceMs) {
        for (const worker of open) this.#workers.lose(worker, 'was not heard of any more');
        return;
      }
      await this.#change();
      await this.#round.checkpoint();
    }
  }

  /** Resolves when the state of a worker changes, at the latest after `CHECK_MS`. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CHECK_MS);
      this.#onChange = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Asks how many workers may compute, and starts or resumes them. */
  #adjust(): void {
    this.#workers.loseLate();
    const asked = this.#source.isStatic ? undefined : this.#round.allowed?.();
    const allowed = Math.min(this.#maxWorkers, asked ?? this.#maxWorkers);
    const before = this.#allowed;
    this.#hadAll &&= allowed === this.#maxWorkers;
    if (allowed === before) return;
    this.#allowed = allowed;
    this.#source.permit(allowed);
    if (allowed < before) return;
    this.#answerFirst(allowed);
    if (!this.#workers.isOff) this.#wake(allowed);
  }

  /** Lets all waiting workers find that no chunk is left. */
  #release(): void {
    this.#allowed = ALL_WORKERS;
    this.#source.permit(ALL_WORKERS);
    this.#answerFirst(ALL_WORKERS);
  }

  #answerFirst(count: number): void {
    for (const worker of this.#workers.all.slice(0, count)) {
      if (worker.isAsking) this.#answer(worker);
    }
  }

  #wake(count: number): void {
    for (const worker of this.#workers.all.slice(0, count)) {
      if (worker.state === 'idle') this.#begin(worker);
    }
    this.#workers.startUpTo(count);
  }

  #isAllowed(worker: WorkerHandle<Task, Result>): boolean {
    return this.#workers.rankOf(worker) <= this.#allowed;
  }

  #begin(worker: WorkerHandle<Task, Result>): void {
    const { setup, task } = this.#round;
    const assignment = this.#source.assign(worker.number, this.#workers.rankOf(worker));
    if (assignment === null) return;
    worker.begin(setup, task, assignment, assignment.by === 'message' ? this.#inputOf(assignment.chunk) : null);
  }

  #answer(worker: WorkerHandle<Task, Result>): void {
    const chunk = this.#source.take(worker.number);
    worker.answer(chunk, chunk === null ? null : this.#inputOf(chunk));
  }

  #inputOf(chunk: number): ChunkInput | null {
    return this.#round.inputOf?.(chunk) ?? null;
  }

  ready(worker: WorkerHandle<Task, Result>): void {
    if (this.#isAllowed(worker)) this.#begin(worker);
    this.changed();
  }

  message(worker: WorkerHandle<Task, Result>, message: FromWorker<Result>): void {
    if (message.say === 'next') {
      worker.asks();
      if (this.#isAllowed(worker)) this.#answer(worker);
    } else if (message.say === 'failed') {
      const why = `failed: ${message.why}`;
      if (message.lacksMemory === true) this.#workers.dismiss(worker, why);
      else this.#workers.lose(worker, why);
    } else if (message.say === 'done') {
      this.#workers.succeeded(worker);
      if (message.chunks > 0) {
        this.#results.push(message.result);
        this.#participants.push(worker.number);
      }
      this.changed();
    }
  }

  lost(worker: WorkerHandle<Task, Result>): void {
    this.#again.push(...this.#source.takenBy(worker.number));
    this.#round.onLost?.();
  }

  death(why: string): void {
    this.#deaths.push(why);
  }

  restarted(): void {
    this.#wake(Math.min(this.#maxWorkers, this.#allowed));
  }

  changed(): void {
    this.#onChange();
  }
}
