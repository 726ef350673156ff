/** The calls of an engine: a few at a time, the one that is due first, and no more waiting than there may be. */
import type { EngineEvent, EngineStats, Priority, QueueLimits } from '../api.js';
import { abortedBy, MsmError, onAbort } from '../errors.js';
import type { Turn } from '../gpu/device-owner.js';
import { dueAt, isMoreUrgent, nextDue, type Waiting } from '../line/due.js';

/** What a call tells the queue of itself. */
export interface QueuedCall {
  readonly kind: EngineEvent['kind'];
  readonly priority: Priority;
  /** Milliseconds from now. */
  readonly deadline: number | null;
  /** That are held for it while it waits. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
  /** What it wants computed, if that may be done together with what others want. */
  readonly order?: Order | undefined;
}

/** What a call wants computed, as others may. */
export interface Order {
  /** Which of the orders that wait are worth being computed with this one. */
  company(waiting: readonly Order[]): readonly Order[];
}

/** Tells whoever watches what happened to a call. */
type Tell = (event: EngineEvent['event'], more?: Partial<EngineEvent>) => unknown;

/** A call that is computed as part of another one. */
export interface Companion {
  readonly order: Order;
  readonly signal: AbortSignal | undefined;
  readonly tell: Tell;
  settle(result: unknown): void;
  fail(error: unknown): void;
}

/** What a call that is under way knows of its turn. */
export interface CallTurn extends Turn {
  /**
   * Does what nobody else may see half done: no other call of the engine is under way meanwhile, but those that wait for the same.
   *
   * @param signal ends the waiting for it; by default the call's own
   * @throws MsmError `aborted`, before
   */
  alone<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Those that are computed with it. */
  readonly company: readonly Companion[];
}

interface Waiter extends Waiting {
  readonly bytes: number;
  readonly order: Order | undefined;
  begin(): void;
  join(): Companion;
}

/** What comes of a call that another one computes; in a box, as a promise of a promise is one. */
interface Joined {
  readonly result: Promise<unknown>;
}

/** A promise, and what settles it. */
const outcome = () => {
  let settle: (result: unknown) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const promise = new Promise<unknown>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { promise, settle, fail };
};

/** Of what the next calls take, how much the last one counts. */
const NEWEST = 0.25;

export class CallQueue {
  readonly #limits: Required<QueueLimits>;
  readonly #onEvent: ((event: EngineEvent) => void) | undefined;
  readonly #width: number;
  #waiting: Waiter[] = [];
  readonly #active = new Set<Waiting>();
  /** Calls that are to be alone, in their order; the first is, once all that are under way are among these. */
  #parked: (() => void)[] = [];
  #isAlone = false;
  #calls = 0;
  /** What a call takes, about; null before the first. */
  #tookMs: number | null = null;
  /** Since when some call is under way. */
  #busySince = 0;
  readonly #counts = { done: 0, failed: 0, refused: 0, merged: 0, waitedMs: 0, busyMs: 0 };

  /**
   * @param width calls that may be under way at the same time; and one more that is more urgent than all of these
   * @param onEvent is told what happens; what it throws is nobody's
   */
  constructor(limits: Required<QueueLimits>, onEvent?: (event: EngineEvent) => void, width = 1) {
    this.#limits = limits;
    this.#onEvent = onEvent;
    this.#width = width;
  }

  get stats(): Omit<EngineStats, 'gpuMs' | 'retries' | 'frees'> {
    return {
      waiting: this.#waiting.length,
      waitingBytes: this.#waitingBytes,
      running: this.#active.size,
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
    task: (turn: CallTurn) => Promise<Result>,
    { kind, priority, deadline, bytes, signal, order }: QueuedCall,
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
    const waiting: Waiting = { priority, since, deadline: deadline === null ? null : since + deadline };
    let joined: Joined | null = null;
    if (this.#mayBegin(waiting) && this.#waiting.every((other) => dueAt(waiting) < dueAt(other))) {
      this.#begin(waiting);
    } else {
      this.#assertRoom(bytes, tell);
      tell('queued');
      try {
        joined = await this.#turn(waiting, bytes, signal, order, tell);
      } catch (error) {
        this.#counts.failed++;
        tell('ended', { error: 'aborted', ms: performance.now() - since });
        throw error;
      }
    }
    // what the caller does next happens before the task begins
    await undefined;
    const begun = performance.now();
    this.#counts.waitedMs += begun - since;
    tell('started', { ms: begun - since });
    let error: unknown = null;
    try {
      const result = await (joined?.result ?? task(this.#turnOf(waiting, signal, order, tell)));
      this.#counts.done++;
      return result as Result;
    } catch (thrown) {
      this.#counts.failed++;
      error = thrown ?? new Error('nothing was thrown');
      throw thrown;
    } finally {
      const ms = performance.now() - begun;
      if (joined === null) this.#end(waiting, ms);
      tell('ended', { ms, error: error === null ? null : error instanceof MsmError ? error.code : 'other' });
    }
  }

  #assertRoom(bytes: number, tell: Tell): void {
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

  /** Whether a call need not wait for those that are under way. */
  #mayBegin(call: Waiting): boolean {
    if (this.#parked.length > 0) return false;
    return this.#active.size < this.#width || (this.#width > 1 && this.#isMostUrgent(call));
  }

  #isMostUrgent(call: Waiting): boolean {
    return [...this.#active].every((other) => isMoreUrgent(call, other));
  }

  #turnOf(call: Waiting, signal: AbortSignal | undefined, order: Order | undefined, tell: Tell): CallTurn {
    const alone: CallTurn['alone'] = (work, other = signal) => this.#alone(work, other);
    const company = this.#companyOf(call, order);
    const tellAll = (event: EngineEvent['event']): void => {
      tell(event);
      for (const companion of company) companion.tell(event);
    };
    return {
      ...call,
      ...{ signal, alone, company },
      onSubmitted: () => tellAll('submitted'),
      onComputed: () => tellAll('computed'),
    };
  }

  /** Takes out of those that wait whoever is to be computed with a call; nobody who is less urgent. */
  #companyOf(call: Waiting, order: Order | undefined): readonly Companion[] {
    if (order === undefined || this.#waiting.length === 0) return [];
    const orders = this.#waiting
      .filter((each) => !isMoreUrgent(call, each))
      .sort((one, other) => dueAt(one) - dueAt(other))
      .flatMap((each) => each.order ?? []);
    const chosen = new Set(order.company(orders));
    const waiters = this.#waiting.filter((each) => each.order !== undefined && chosen.has(each.order));
    this.#waiting = this.#waiting.filter((each) => !waiters.includes(each));
    this.#counts.merged += waiters.length;
    return waiters.map((each) => each.join());
  }

  #end(call: Waiting, ms: number): void {
    const own = ms / this.#active.size;
    this.#tookMs = this.#tookMs === null ? own : (1 - NEWEST) * this.#tookMs + NEWEST * own;
    this.#active.delete(call);
    if (this.#active.size === 0) this.#counts.busyMs += performance.now() - this.#busySince;
    this.#next();
  }

  #begin(call: Waiting): void {
    if (this.#active.size === 0) this.#busySince = performance.now();
    this.#active.add(call);
  }

  /**
   * Resolves when it is its turn, or when another call computes it, with a promise of its result; rejects as soon as it is aborted, and waits no more.
   */
  #turn(
    call: Waiting,
    bytes: number,
    signal: AbortSignal | undefined,
    order: Order | undefined,
    tell: Tell,
  ): Promise<Joined | null> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter);
        reject(abortedBy(signal));
      };
      const waiter: Waiter = {
        ...call,
        bytes,
        order,
        begin: () => {
          stay();
          this.#begin(call);
          resolve(null);
        },
        join: () => {
          stay();
          const { promise, settle, fail } = outcome();
          const deaf = onAbort(signal, () => fail(abortedBy(signal)));
          let isOver = false;
          const over = (): void => {
            isOver = true;
            deaf();
          };
          promise.then(over, over);
          resolve({ result: promise });
          const tellOfIt: Tell = (event) => isOver || tell(event);
          return { order: order as Order, signal, tell: tellOfIt, settle, fail };
        },
      };
      const stay = onAbort(signal, leave);
      this.#waiting.push(waiter);
    });
  }

  async #alone<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#parked = this.#parked.filter((each) => each !== begin);
        reject(abortedBy(signal));
        this.#next();
      };
      const begin = (): void => {
        stay();
        resolve();
      };
      if (signal?.aborted) return reject(abortedBy(signal));
      const stay = onAbort(signal, leave);
      this.#parked.push(begin);
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#parked.shift();
      this.#isAlone = false;
      this.#next();
    }
  }

  /** Whose turn it is has it from now on, before anybody else comes. */
  #next(): void {
    const [first] = this.#parked;
    if (first !== undefined) {
      if (this.#isAlone || this.#active.size > this.#parked.length) return;
      this.#isAlone = true;
      first();
      return;
    }
    while (this.#waiting.length > 0) {
      const next = nextDue(this.#waiting);
      if (!this.#mayBegin(this.#waiting[next] as Waiter)) break;
      const [waiter] = this.#waiting.splice(next, 1) as [Waiter];
      waiter.begin();
    }
  }
}
