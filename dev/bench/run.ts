/** One run of the bench: its state, which on the page is `window.msmBench`, and the telling of its rows. It knows no DOM. */
import type { AdapterDescription } from '../../src/api/device.js';
import { MsmError } from '../../src/index.js';
import { errorMessage } from './error-message.js';
import type { Row, RowOf, RowPath, StampedRow } from './rows.js';

/** What programs that drive a run read. */
export type MsmBench = ReturnType<typeof newBench>;

const newBench = () => ({
  status: 'idle' as 'idle' | 'running' | 'done' | 'failed',
  runId: makeRunId(),
  adapter: null as AdapterDescription | null,
  /** Every row told so far, in order. */
  rows: [] as StampedRow[],
  /** Wall time of the last right MSM. */
  lastWallMs: null as number | null,
  error: null as string | null,
  /** Whether somebody stopped it: that is no failure, though it ends as one. */
  stopped: false,
  /** Whether the run ended because the GPU went away: another run may work. */
  deviceLost: false,
  /** What is being done, and how far the run is; `ticks` grows whenever anything happened. */
  doing: '',
  done: 0,
  total: 0,
  ticks: 0,
  /** A guess from what was timed so far; null before there is anything to guess from. */
  secondsLeft: null as number | null,
  /** How long what is being done takes already: that moves while shaders compile, too. */
  stepSeconds: 0,
});

export interface RunListener {
  onProgress(bench: Readonly<MsmBench>): void;
  onRow(row: StampedRow): void;
}

/** Who keeps the rows. */
export interface RowSink {
  post(path: RowPath, row: StampedRow): void;
  /** Resolves when every row so far was sent or given up. */
  flushed(): Promise<void>;
}

/** Of time and chance: sorts by time. */
const makeRunId = (): string => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 12)}`;

/** Lets the browser paint and take input before work that blocks it. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** How long the news of a lost device may take. */
const LOSS_TOLD_MS = 50;

/** While nothing else happens, it is told that time goes by. */
const HEARTBEAT_MS = 1000;

export class Run {
  readonly bench = newBench();
  readonly #abort = new AbortController();
  readonly #listener: RunListener;
  readonly #sink: RowSink | null;
  #startedAt = performance.now();
  #stepAt = performance.now();
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  /** As steps differ: that of a large MSM takes longer. */
  #weight = { done: 0, total: 0 };
  /** Of these, those that a guess rests on: warming up compiles, and says nothing of what comes. */
  #timed = { weight: 0, seconds: 0, since: 0 };

  constructor(listener: RunListener, sink: RowSink | null = null) {
    this.#listener = listener;
    this.#sink = sink;
  }

  /** Aborts what is running. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.bench.stopped = true;
    this.#abort.abort(new Error('stopped by you'));
  }

  /** The GPU went away: whatever is waited for will not come. */
  loseDevice(why: string): void {
    this.bench.deviceLost = true;
    this.#abort.abort(new Error(`device-lost: the GPU device was lost (${why})`));
  }

  start(): void {
    this.bench.status = 'running';
    this.#startedAt = performance.now();
    this.#stepAt = this.#startedAt;
    // no tick: who waits for those wants to know when nothing happens any more
    this.#heartbeat = setInterval(() => this.#say(), HEARTBEAT_MS);
    this.#say();
  }

  #say(): void {
    this.bench.stepSeconds = (performance.now() - this.#stepAt) / 1000;
    this.#listener.onProgress(this.bench);
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  /** How many steps there will be, each with what it weighs. */
  plan(weights: readonly number[]): void {
    this.bench.total = weights.length;
    this.#weight.total = weights.reduce((sum, weight) => sum + weight, 0);
  }

  /** Says what comes next, and lets the page show it. Rejects when the run was stopped. */
  async next(doing: string): Promise<void> {
    this.bench.doing = doing;
    this.#stepAt = performance.now();
    this.tick();
    await breathe();
    this.signal.throwIfAborted();
  }

  /** Something went on. */
  tick(): void {
    this.bench.ticks++;
    this.#say();
  }

  /** One more of `total` is done. */
  advance(weight = 1, kind: 'timed' | 'warm-up' = 'timed'): void {
    this.bench.done++;
    this.#weight.done += weight;
    this.#guessLeft(kind === 'timed' ? weight : 0, this.#weight.total - this.#weight.done);
    this.tick();
  }

  /**
   * The steps so far were so many of so many: for what counts its own.
   *
   * @param prepared how many of the first of them only compile
   */
  progress(doing: string, done: number, total: number, prepared = 0): void {
    this.signal.throwIfAborted();
    const timed = Math.max(0, Math.min(done - this.bench.done, done - prepared));
    Object.assign(this.bench, { doing, done, total });
    this.#stepAt = performance.now();
    this.#guessLeft(timed, total - done);
    this.tick();
  }

  /** @param weight of what was just timed; 0 if nothing was */
  #guessLeft(weight: number, left: number): void {
    const timed = this.#timed;
    if (weight > 0) {
      timed.weight += weight;
      timed.seconds += this.seconds - timed.since;
    }
    timed.since = this.seconds;
    if (timed.weight > 0) this.bench.secondsLeft = Math.max(0, (left * timed.seconds) / timed.weight);
  }

  tell(row: Row, ...paths: RowPath[]): void {
    const stamped: StampedRow = { ...row, runId: this.bench.runId, at: new Date().toISOString() };
    this.bench.rows.push(stamped);
    for (const path of paths) this.#sink?.post(path, stamped);
    this.#listener.onRow(stamped);
    this.tick();
  }

  async end(error: string | null, medians: RowOf<'end'>['medians'] = []): Promise<void> {
    const { bench } = this;
    if (error === null) {
      // what was measured on a device that is gone, or after a stop, is no result
      await new Promise((resolve) => setTimeout(resolve, LOSS_TOLD_MS));
      this.signal.throwIfAborted();
    }
    clearInterval(this.#heartbeat);
    const status = error === null ? 'done' : 'failed';
    if (error !== null && !bench.stopped && !bench.deviceLost) bench.lastWallMs = null;
    bench.doing = '';
    bench.secondsLeft = null;
    bench.error = error;
    this.tell({ event: 'end', status, error, seconds: this.seconds, medians }, 'progress', 'results');
    await this.#sink?.flushed();
    bench.status = status;
    this.#say();
  }

  /** Runs to an end, whatever happens. */
  async go(work: () => Promise<void>): Promise<void> {
    this.start();
    try {
      await work();
    } catch (error) {
      // that the device is lost may be told a moment after what it makes fail
      await new Promise((resolve) => setTimeout(resolve, LOSS_TOLD_MS));
      if (error instanceof MsmError && error.code === 'device-lost') this.bench.deviceLost = true;
      await this.end(errorMessage(this.signal.aborted ? this.signal.reason : error));
    }
  }
}
