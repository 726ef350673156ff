/** One run of the page: its state, which is `window.msmBench`, and the telling of its rows. */
import type { AdapterDescription } from '../../src/api.js';
import { RowPoster } from './row-poster.js';
import type { EndRow, Row, RowPath, StampedRow } from './rows.js';

/** What programs that drive the page read. */
export interface MsmBench {
  status: 'idle' | 'running' | 'done' | 'failed';
  runId: string;
  adapter: AdapterDescription | null;
  /** Every row told so far, in order. */
  rows: StampedRow[];
  /** Wall time of the last right MSM. */
  lastWallMs: number | null;
  error: string | null;
  /** What is being done, and how far the run is; `ticks` grows whenever anything happened. */
  doing: string;
  done: number;
  total: number;
  ticks: number;
}

declare global {
  interface Window {
    msmBench: MsmBench;
  }
}

export interface RunListener {
  onProgress(bench: Readonly<MsmBench>): void;
  onRow(row: StampedRow): void;
}

/** 20 characters of time and chance: sorts by time. */
function makeRunId(): string {
  const random = crypto.getRandomValues(new Uint8Array(5));
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${Date.now().toString(36)}-${hex}`;
}

/** Lets the browser paint and take input before work that blocks it. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

export class Run {
  readonly bench: MsmBench = {
    status: 'idle',
    runId: makeRunId(),
    adapter: null,
    rows: [],
    lastWallMs: null,
    error: null,
    doing: '',
    done: 0,
    total: 0,
    ticks: 0,
  };
  readonly poster = new RowPoster();
  readonly #abort = new AbortController();
  readonly #listener: RunListener;
  #startedAt = performance.now();

  constructor(listener: RunListener) {
    this.#listener = listener;
  }

  /** Aborts what is running. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.#abort.abort(new Error('stopped by you'));
  }

  start(): void {
    this.bench.status = 'running';
    this.#startedAt = performance.now();
    this.#listener.onProgress(this.bench);
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
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
  advance(): void {
    this.bench.done++;
    this.tick();
  }

  tell(row: Row, ...paths: RowPath[]): void {
    const stamped: StampedRow = { ...row, runId: this.bench.runId, at: new Date().toISOString() };
    this.bench.rows.push(stamped);
    for (const path of paths) this.poster.post(path, stamped);
    this.#listener.onRow(stamped);
    this.tick();
  }

  async end(error: string | null, medians: EndRow['medians'] = []): Promise<void> {
    const { bench } = this;
    const status = error === null ? 'done' : 'failed';
    bench.doing = '';
    bench.error = error;
    this.tell({ event: 'end', status, error, seconds: this.seconds, medians }, 'progress', 'results');
    await this.poster.flushed();
    bench.status = status;
    this.#listener.onProgress(bench);
  }
}
