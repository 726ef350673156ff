/** The calls of an engine: one at a time, the one that is due first, and no more waiting than there may be. */
import type { EngineEvent, EngineStats, Priority, QueueLimits } from '../api.js';
import { abortedBy, MsmError } from '../errors.js';
import { nextDue, type Waiting } from '../plan/due.js';

/** What a call tells the queue of itself. */
export interface QueuedCall {
  readonly kind: EngineEvent['kind'];
  readonly priority: Priority;
  /** Milliseconds from now. */
  readonly deadline: number | null;
  /** That are held for it while it waits. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
}

interface Waiter extends Waiting {
  readonly bytes: number;
  begin(): void;
}

/** Of what the next calls take, how much the last one counts. */
const NEWEST = 0.25;

export class CallQueue {
  readonly #limits: Required<QueueLimits>;
  readonly #onEvent: ((event: EngineEvent) => void) | undefined;
  #waiting: Waiter[] = [];
  #isBusy = false;
  #calls = 0;
  /** What a call takes, about; null before the first. */
  #tookMs: number | null = null;
  readonly #counts = { done: 0, failed: 0, refused: 0, waitedMs: 0, busyMs: 0 };

  /** @param onEvent is told what happens; what it throws is nobody's */
  constructor(limits: Required<QueueLimits>, onEvent?: (event: EngineEvent) => void) {
    this.#limits = limits;
    this.#onEvent = onEvent;
  }

  get stats(): Omit<EngineStats, 'gpuMs' | 'retries'> {
    return {
      waiting: this.#waiting.length,
      waitingBytes: this.#waitingBytes,
      running: Number(this.#isBusy),
      ...this.#counts,
    };
  }

  get #waitingBytes(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * Runs a task when it is its turn.
   *
   * @throws MsmError `overloaded`, at once; `aborted`, as soon as somebody aborts what waits
   */
  async run<Result>(
    task: () => Promise<Result>,
    { kind, priority, deadline, bytes, signal }: QueuedCall,
  ): Promise<Result> {
    const call = this.#calls++;
    const since = performance.now();
    const tell = (event: EngineEvent['event'], more: Partial<EngineEvent> = {}): void => {
      try {
        this.#onEvent?.({ event, call, kind, priority, bytes, at: performance.now(), error: null, ms: null, ...more });
      } catch {
        // of a spectator, who stops nobody
      }
    };
    if (this.#isBusy || this.#waiting.length > 0) {
      this.#assertRoom(bytes, tell);
      tell('queued');
      const waiting = { priority, since, deadline: deadline === null ? null : since + deadline, bytes };
      try {
        await this.#turn(waiting, signal);
      } catch (error) {
        this.#counts.failed++;
        tell('ended', { error: 'aborted', ms: performance.now() - since });
        throw error;
      }
    }
    this.#isBusy = true;
    // what the caller does next happens before the task begins
    await undefined;
    const begun = performance.now();
    this.#counts.waitedMs += begun - since;
    tell('started', { ms: begun - since });
    let error: unknown = null;
    try {
      const result = await task();
      this.#counts.done++;
      return result;
    } catch (thrown) {
      this.#counts.failed++;
      error = thrown ?? new Error('nothing was thrown');
      throw thrown;
    } finally {
      const ms = performance.now() - begun;
      this.#counts.busyMs += ms;
      this.#tookMs = this.#tookMs === null ? ms : (1 - NEWEST) * this.#tookMs + NEWEST * ms;
      this.#isBusy = false;
      this.#next();
      tell('ended', { ms, error: error === null ? null : error instanceof MsmError ? error.code : 'other' });
    }
  }

  #assertRoom(bytes: number, tell: (event: EngineEvent['event'], more: Partial<EngineEvent>) => void): void {
    const { calls, bytes: mostBytes } = this.#limits;
    const held = this.#waitingBytes;
    const isOver = this.#waiting.length >= calls || held + bytes > mostBytes;
    if (!isOver) return;
    this.#counts.refused++;
    tell('refused', { error: 'overloaded' });
    const wait = Math.ceil((this.#tookMs ?? 0) * (this.#waiting.length + 1));
    throw new MsmError(
      'overloaded',
      `${this.#waiting.length} calls with ${held} bytes wait already, and maxQueued allows ${calls} with ${mostBytes}; come back in ${wait} ms`,
      { retryAfterMs: wait },
    );
  }

  /** Resolves when it is its turn; rejects as soon as it is aborted, and waits no more. */
  #turn(waiting: Waiting & { readonly bytes: number }, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter);
        reject(abortedBy(signal));
      };
      const waiter: Waiter = {
        ...waiting,
        begin: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** Whose turn it is has it from now on, before anybody else comes. */
  #next(): void {
    if (this.#waiting.length === 0) return;
    const [waiter] = this.#waiting.splice(nextDue(this.#waiting), 1) as [Waiter];
    this.#isBusy = true;
    waiter.begin();
  }
}
