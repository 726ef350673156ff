/**
 * State of one run of the bench, which the page exposes as `window.msmBench`, and the emitter of
 * its rows. It knows no DOM.
 */
import type { AdapterDescription } from '../../src/api/device.js';
import { MsmError } from '../../src/index.js';
import type { Row, StampedRow } from './rows.js';

/** State that programs that drive a run read. */
export type MsmBench = ReturnType<typeof newBench>;

const newBench = () => ({
  status: 'idle' as 'idle' | 'running' | 'done' | 'failed',
  runId: makeRunId(),
  adapter: null as AdapterDescription | null,
  /** Rows emitted so far, in order. */
  rows: [] as StampedRow[],
  /** Wall time of the last correct MSM. */
  lastWallMs: null as number | null,
  error: null as string | null,
  /** True if the user stopped the run. Its status is `failed`, but nothing is wrong. */
  stopped: false,
  /** True if the run ended because the device was lost. Another run may work. */
  deviceLost: false,
  /** Current step and progress of the run; `ticks` grows with every sign of progress. */
  doing: '',
  done: 0,
  total: 0,
  ticks: 0,
  /** Estimated time left; null before the first timed step. */
  secondsLeft: null as number | null,
  /** Duration of the current step so far. It also grows while shaders compile. */
  stepSeconds: 0,
});

export interface RunListener {
  onProgress(bench: Readonly<MsmBench>): void;
  onRow(row: StampedRow): void;
}

export interface RowSink {
  post(row: StampedRow): void;
  /** Resolves when every row so far was sent or given up. */
  flushed(): Promise<void>;
}

/** Returns an id of time and chance, so that ids sort by time. */
const makeRunId = (): string => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 12)}`;

/** Lets the browser paint and take input before work that blocks it. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Time that the report of a lost device may take. */
const LOSS_TOLD_MS = 50;

/** Interval at which elapsed time is reported while nothing else happens. */
const HEARTBEAT_MS = 1000;

export class Run {
  readonly bench = newBench();
  readonly #abort = new AbortController();
  readonly #listener: RunListener;
  readonly #sink: RowSink | null;
  #startedAt = performance.now();
  #stepAt = performance.now();
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  /** Weights of steps, because large MSMs take longer. */
  #weight = { done: 0, total: 0 };
  /** Timed steps, on which the estimate rests. Warm-ups compile, so they predict nothing. */
  #timed = { weight: 0, seconds: 0, since: 0 };

  constructor(listener: RunListener, sink: RowSink | null = null) {
    this.#listener = listener;
    this.#sink = sink;
  }

  /** Aborts the current work. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.bench.stopped = true;
    this.#abort.abort(new Error('stopped by you'));
  }

  /** Ends the run because the device was lost: pending work will not finish. */
  loseDevice(why: string): void {
    this.bench.deviceLost = true;
    this.#abort.abort(new Error(`device-lost: the GPU device was lost (${why})`));
  }

  start(): void {
    this.bench.status = 'running';
    this.#startedAt = performance.now();
    this.#stepAt = this.#startedAt;
    // no tick: drivers watch ticks to notice that nothing happens any more
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

  /** Sets the number of steps, each with its weight. */
  plan(weights: readonly number[]): void {
    this.bench.total = weights.length;
    this.#weight.total = weights.reduce((sum, weight) => sum + weight, 0);
  }

  /** Announces the next step, and lets the page show it. Rejects if the run was stopped. */
  async next(doing: string): Promise<void> {
    this.bench.doing = doing;
    this.#stepAt = performance.now();
    this.tick();
    await breathe();
    this.signal.throwIfAborted();
  }

  /** Records a sign of progress. */
  tick(): void {
    this.bench.ticks++;
    this.#say();
  }

  /** Records that one step is done. */
  advance(weight = 1, kind: 'timed' | 'warm-up' = 'timed'): void {
    this.bench.done++;
    this.#weight.done += weight;
    this.#guessLeft(kind === 'timed' ? weight : 0, this.#weight.total - this.#weight.done);
    this.tick();
  }

  /**
   * Sets the progress of work that counts its own steps.
   *
   * @param prepared number of first steps that only compile
   */
  progress(doing: string, done: number, total: number, prepared = 0): void {
    this.signal.throwIfAborted();
    const timed = Math.max(0, Math.min(done - this.bench.done, done - prepared));
    Object.assign(this.bench, { doing, done, total });
    this.#stepAt = performance.now();
    this.#guessLeft(timed, total - done);
    this.tick();
  }

  /** @param weight weight of the step that was timed; 0 if none was */
  #guessLeft(weight: number, left: number): void {
    const timed = this.#timed;
    if (weight > 0) {
      timed.weight += weight;
      timed.seconds += this.seconds - timed.since;
    }
    timed.since = this.seconds;
    if (timed.weight > 0) this.bench.secondsLeft = Math.max(0, (left * timed.seconds) / timed.weight);
  }

  emit(row: Row): void {
    const stamped: StampedRow = { ...row, runId: this.bench.runId, at: new Date().toISOString() };
    this.bench.rows.push(stamped);
    this.#sink?.post(stamped);
    this.#listener.onRow(stamped);
    this.tick();
  }

  async end(error: string | null): Promise<void> {
    const { bench } = this;
    if (error === null) {
      // a run that lost its device, or was stopped, has no result
      await new Promise((resolve) => setTimeout(resolve, LOSS_TOLD_MS));
      this.signal.throwIfAborted();
    }
    clearInterval(this.#heartbeat);
    const status = error === null ? 'done' : 'failed';
    if (error !== null && !bench.stopped && !bench.deviceLost) bench.lastWallMs = null;
    bench.doing = '';
    bench.secondsLeft = null;
    bench.error = error;
    this.emit({ event: 'end', status, error, seconds: this.seconds });
    await this.#sink?.flushed();
    bench.status = status;
    this.#say();
  }

  /** Runs to the end and never rejects. */
  async go(work: () => Promise<void>): Promise<void> {
    this.start();
    try {
      await work();
    } catch (error) {
      // a lost device may be reported a moment after the error that it causes
      await new Promise((resolve) => setTimeout(resolve, LOSS_TOLD_MS));
      if (error instanceof MsmError && error.code === 'device-lost') this.bench.deviceLost = true;
      await this.end(errorMessage(this.signal.aborted ? this.signal.reason : error));
    }
  }
}

/** Returns the text the page shows for an error: errors of the library with their code. */
export function errorMessage(error: unknown): string {
  if (error instanceof MsmError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
