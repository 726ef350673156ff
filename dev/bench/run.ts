/** One run of the bench: its state, which on the page is `window.msmBench`, and the telling of its rows. It knows no DOM. */
import type { AdapterDescription } from '../../src/api.js';
import { MsmError } from '../../src/index.js';
import { errorMessage } from './error-message.js';
import type { EndRow, Row, RowPath, StampedRow } from './rows.js';

/** What programs that drive a run read. */
export interface MsmBench {
  status: 'idle' | 'running' | 'done' | 'failed';
  runId: string;
  adapter: AdapterDescription | null;
  /** Every row told so far, in order. */
  rows: StampedRow[];
  /** Wall time of the last right MSM. */
  lastWallMs: number | null;
  error: string | null;
  /** Whether somebody stopped it: that is no failure, though it ends as one. */
  stopped: boolean;
  /** Whether the run ended because the GPU went away: another run may work. */
  deviceLost: boolean;
  /** What is being done, and how far the run is; `ticks` grows whenever anything happened. */
  doing: string;
  done: number;
  total: number;
  ticks: number;
  /** A guess from what was done so far; null before there is anything to guess from. */
  secondsLeft: number | null;
}

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

/** 20 characters of time and chance: sorts by time. */
function makeRunId(): string {
  const random = crypto.getRandomValues(new Uint8Array(5));
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${Date.now().toString(36)}-${hex}`;
}

/** Lets the browser paint and take input before work that blocks it. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** How long the news of a lost device may take. */
const LOSS_TOLD_MS = 50;

/** So much must be done before a guess of the time left is worth reading. */
const LEAST_SHARE = 0.03;

export class Run {
  readonly bench: MsmBench = {
    status: 'idle',
    runId: makeRunId(),
    adapter: null,
    rows: [],
    lastWallMs: null,
    error: null,
    stopped: false,
    deviceLost: false,
    doing: '',
    done: 0,
    total: 0,
    ticks: 0,
    secondsLeft: null,
  };
  readonly #abort = new AbortController();
  readonly #listener: RunListener;
  readonly #sink: RowSink | null;
  #startedAt = performance.now();
  /** As steps differ: that of a large MSM takes longer. */
  #weight = { done: 0, total: 0 };

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
    this.tick();
    await breathe();
    this.signal.throwIfAborted();
  }

  /** Something went on. */
  tick(): void {
    this.bench.ticks++;
    this.#listener.onProgress(this.bench);
  }

  /** One more of `total` is done. */
  advance(weight = 1): void {
    this.bench.done++;
    this.#weight.done += weight;
    this.#guessLeft(this.#weight.done / this.#weight.total);
    this.tick();
  }

  /** The steps so far were so many of so many: for what counts its own. */
  progress(doing: string, done: number, total: number): void {
    this.signal.throwIfAborted();
    Object.assign(this.bench, { doing, done, total });
    this.#guessLeft(done / total);
    this.tick();
  }

  #guessLeft(share: number): void {
    if (share >= LEAST_SHARE) this.bench.secondsLeft = Math.max(0, this.seconds * (1 / share - 1));
  }

  tell(row: Row, ...paths: RowPath[]): void {
    const stamped: StampedRow = { ...row, runId: this.bench.runId, at: new Date().toISOString() };
    this.bench.rows.push(stamped);
    for (const path of paths) this.#sink?.post(path, stamped);
    this.#listener.onRow(stamped);
    this.tick();
  }

  async end(error: string | null, medians: EndRow['medians'] = []): Promise<void> {
    const { bench } = this;
    if (error === null) {
      // what was measured on a device that is gone, or after a stop, is no result
      await new Promise((resolve) => setTimeout(resolve, LOSS_TOLD_MS));
      this.signal.throwIfAborted();
    }
    const status = error === null ? 'done' : 'failed';
    if (error !== null && !bench.stopped && !bench.deviceLost) bench.lastWallMs = null;
    bench.doing = '';
    bench.secondsLeft = null;
    bench.error = error;
    this.tell({ event: 'end', status, error, seconds: this.seconds, medians }, 'progress', 'results');
    await this.#sink?.flushed();
    bench.status = status;
    this.#listener.onProgress(bench);
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
