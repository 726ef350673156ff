/**
 * Queue of an engine's calls: earliest deadline first, with a limit on active and on waiting calls.
 * A call that has its turn may compute the requests of waiting calls with its own.
 */
import type { EngineEvent, EngineStats, Priority, QueueLimits } from '../api/calls.js';
import { abortedBy, assertNotAborted, Ending, MsmError, onAbort } from '../errors.js';
import { Call, type CallParts } from './call.js';
import { dueTime, earliestDue, isMoreUrgent, type Waiting } from './edf.js';

/** Description of a call for the queue. */
export interface QueuedCall extends Pick<CallParts, 'clock' | 'onProgress' | 'assertUsable'> {
  readonly kind: EngineEvent['kind'];
  readonly priority: Priority;
  /** Milliseconds from now; null: none. */
  readonly deadline: number | null;
  /** Bytes held for the call while it waits. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
  /** Request of the call, where other calls may compute it with theirs. */
  readonly request?: Coalescing | undefined;
}

/** Releases a result that came after its call had ended. */
export type Abandon<Result> = (result: Result) => void;

/** Computes a call in its turn, with the requests of the calls that were coalesced with it. */
export type Task<Result> = (call: Call, coalesced: readonly CoalescedCall[]) => Promise<Result>;

/** A call, with its place in the queue. */
interface Queued extends Omit<QueuedCall, keyof Waiting | 'kind'> {
  readonly waiting: Waiting;
  readonly notify: Notify;
}

/** Weight of the last call in the moving average of call durations. */
const NEWEST_WEIGHT = 0.25;

export class CallQueue {
  readonly #onEvent: ((event: EngineEvent) => void) | undefined;
  readonly #width: number;
  readonly #waiting: WaitingCalls;
  readonly #active = new Set<Waiting>();
  readonly #sections = new ExclusiveSections(() => this.#advance());
  #calls = 0;
  /** Moving average of a call's duration, in ms; null before the first call has ended. */
  #averageMs: number | null = null;
  /** Time at which the first of the active calls began. */
  #busySince = 0;
  readonly #counts = { done: 0, failed: 0, refused: 0, merged: 0, waitedMs: 0, busyMs: 0 };
  /** Ends all calls with their engine. */
  readonly #ending = new Ending();

  /**
   * @param width number of active calls; a call more urgent than all of these may be active as well
   * @param onEvent receives the events of all calls; its errors are ignored
   */
  constructor(limits: QueueCaps, onEvent?: (event: EngineEvent) => void, width = 1) {
    this.#waiting = new WaitingCalls(limits);
    this.#onEvent = onEvent;
    this.#width = width;
  }

  get stats(): Omit<EngineStats, 'gpuMs' | 'retries' | 'frees' | 'calibration'> {
    return {
      waiting: this.#waiting.calls.length,
      waitingBytes: this.#waiting.bytes,
      running: this.#active.size,
      ...this.#counts,
    };
  }

  /** Ends all calls with an error: active ones, waiting ones and later ones. */
  end(error: MsmError): void {
    this.#ending.end(error);
  }

  /**
   * Runs a task when its call has its turn.
   *
   * @throws MsmError `overloaded`, at once; `aborted`, as soon as the signal aborts
   */
  async run<Result>(
    task: Task<Result>,
    { kind, priority, deadline, ...queued }: QueuedCall,
    abandon: Abandon<Result> = () => undefined,
  ): Promise<Result> {
    const notify = notifierOf(this.#onEvent, { call: this.#calls++, kind, priority, bytes: queued.bytes });
    const since = performance.now();
    const waiting: Waiting = { priority, since, deadline: deadline === null ? null : since + deadline };
    let own: Queued = { ...queued, waiting, notify };
    let from = since;
    let turn = this.#beginOrQueue(own);
    for (;;) {
      const joined = turn === null ? null : await this.#untilTurn(turn, notify, from);
      // the caller's synchronous code after the call runs before the task begins
      await undefined;
      const begun = performance.now();
      this.#counts.waitedMs += begun - from;
      notify('started', { ms: begun - from });
      const compute = (): Promise<unknown> =>
        joined === null ? this.#work(task, own, abandon) : this.#ending.race(joined.result);
      const result = await this.#reportFailure(compute, notify, begun);
      if (result !== SEPARATED) {
        this.#counts.done++;
        notify('ended', { ms: performance.now() - begun });
        return result as Result;
      }
      this.#counts.merged--;
      own = { ...own, request: undefined };
      from = performance.now();
      turn = this.#queue(own);
    }
  }

  /** Makes a call active, and returns null; or queues it, and returns a promise of its turn. */
  #beginOrQueue(call: Queued): Promise<CoalescedResult | null> | null {
    const { waiting, bytes, notify } = call;
    if (this.#nextOf([...this.#waiting.calls, waiting]) === waiting) {
      this.#begin(waiting);
      return null;
    }
    this.#assertRoom(bytes, notify);
    return this.#queue(call);
  }

  /**
   * Waits for the turn of a call; resolves with its result's promise where another call computes
   * it.
   */
  #untilTurn(turn: Promise<CoalescedResult | null>, notify: Notify, from: number): Promise<CoalescedResult | null> {
    notify('queued');
    return this.#reportFailure(() => this.#ending.race(turn), notify, from);
  }

  /** Counts and reports the failure of a call. */
  async #reportFailure<Value>(compute: () => Promise<Value>, notify: Notify, from: number): Promise<Value> {
    try {
      return await compute();
    } catch (error) {
      this.#counts.failed++;
      notify('ended', { ms: performance.now() - from, error: codeOf(error) });
      throw error;
    }
  }

  /**
   * Runs the task of an active call. The call ends at once when it is aborted, or when the engine
   * is destroyed. A task that cannot stop midway stays active until its next checkpoint. Calls that
   * were coalesced with an aborted call go on.
   */
  #work<Result>(task: Task<Result>, own: Queued, abandon: Abandon<Result>): Promise<Result> {
    const { waiting, signal } = own;
    let isOver = false;
    const coalesced = this.#waiting.takeCoalesced(waiting, own.request);
    this.#counts.merged += coalesced.length;
    const call = this.#callOf({ ...own, notify: (event) => isOver || own.notify(event) }, coalesced);
    const compute = async (): Promise<Result> => {
      const begun = performance.now();
      try {
        return await task(call, coalesced);
      } finally {
        this.#end(waiting, (performance.now() - begun) / (1 + coalesced.length));
      }
    };
    const end = (): void => {
      isOver = true;
    };
    const computed = compute();
    const result = this.#ending.race(computed, signal);
    result.then(end, () => {
      end();
      computed.then(abandon, () => undefined);
    });
    return result;
  }

  /** @throws MsmError `overloaded` when another call would exceed the limits */
  #assertRoom(bytes: number, notify: Notify): void {
    if (this.#waiting.hasRoomFor(bytes)) return;
    this.#counts.refused++;
    notify('refused', { error: 'overloaded' });
    // before the first call has ended, the time that the active calls have taken so far
    throw this.#waiting.overloaded(this.#averageMs ?? performance.now() - this.#busySince);
  }

  /**
   * Returns the call to start next, or null. The call that is due first takes a free place. If more
   * than one call may be active, a call more urgent than all active ones starts without a free
   * place: no call waits for less urgent ones, however long those have waited.
   */
  #nextOf<Some extends Waiting>(waiting: readonly Some[]): Some | null {
    if (this.#sections.isOccupied) return null;
    const isFree = this.#sections.isEmpty && this.#active.size < this.#width;
    if (isFree) return waiting[earliestDue(waiting)] ?? null;
    if (this.#width === 1) return null;
    const urgent = waiting.filter((call) => [...this.#active].every((other) => isMoreUrgent(call, other)));
    return urgent[earliestDue(urgent)] ?? null;
  }

  /** Makes the call that goes down: it is as urgent as the most urgent call of its group. */
  #callOf({ waiting, notify, ...own }: Queued, coalesced: readonly CoalescedCall[]): Call {
    const notifyAll = (event: EngineEvent['event']): void => {
      notify(event);
      for (const each of coalesced) each.notify(event);
    };
    return new Call({
      ...groupUrgency(waiting, coalesced),
      call: waiting,
      signal: own.signal,
      clock: own.clock,
      onProgress: own.onProgress,
      assertUsable: own.assertUsable,
      exclusive: (work, signal) => this.#sections.run(work, signal),
      onSubmitted: () => notifyAll('submitted'),
      onComputed: () => notifyAll('computed'),
    });
  }

  #begin(call: Waiting): void {
    if (this.#active.size === 0) this.#busySince = performance.now();
    this.#active.add(call);
  }

  #end(call: Waiting, ms: number): void {
    const own = ms / this.#active.size;
    this.#averageMs = this.#averageMs === null ? own : (1 - NEWEST_WEIGHT) * this.#averageMs + NEWEST_WEIGHT * own;
    this.#active.delete(call);
    if (this.#active.size === 0) this.#counts.busyMs += performance.now() - this.#busySince;
    this.#advance();
  }

  /**
   * Queues a call. Resolves with null when the call has its turn, or with the promise of its result
   * when another call computes it. Rejects, and leaves the queue, as soon as the call is aborted.
   */
  #queue({ waiting: call, bytes, signal, request, notify }: Queued): Promise<CoalescedResult | null> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.remove(waiter);
        reject(abortedBy(signal));
      };
      const waiter: Waiter = {
        ...call,
        bytes,
        request,
        begin: () => {
          unsubscribe();
          this.#begin(call);
          resolve(null);
        },
        join: () => {
          unsubscribe();
          const { joined, result } = joinLeader(call, { request: request as Coalescing, signal, notify });
          resolve({ result });
          return joined;
        },
      };
      // a signal that is aborted already fires no event
      assertNotAborted(signal);
      const unsubscribe = onAbort(signal, leave);
      this.#waiting.add(waiter);
      this.#advance();
    });
  }

  /** Starts every call that may start now, before later calls arrive. */
  #advance(): void {
    this.#sections.enterNext(this.#active.size);
    for (;;) {
      const waiter = this.#nextOf(this.#waiting.calls);
      if (waiter === null) return;
      this.#waiting.remove(waiter);
      waiter.begin();
    }
  }
}

/** A call that waits. */
interface Waiter extends Waiting {
  readonly bytes: number;
  /** Request of the call, where other calls may compute it with theirs. */
  readonly request: Coalescing | undefined;
  begin(): void;
  /** Joins the call to a leader, which computes it. */
  join(): CoalescedCall;
}

/** Limits on the calls that wait; Infinity: none. */
export type QueueCaps = Readonly<Record<keyof QueueLimits, number>>;

class WaitingCalls {
  readonly #limits: QueueCaps;
  #calls: readonly Waiter[] = [];

  constructor(limits: QueueCaps) {
    this.#limits = limits;
  }

  get calls(): readonly Waiter[] {
    return this.#calls;
  }

  /** Bytes held for all waiting calls. */
  get bytes(): number {
    return this.#calls.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  add(waiter: Waiter): void {
    this.#calls = [...this.#calls, waiter];
  }

  remove(...waiters: readonly Waiter[]): void {
    this.#calls = this.#calls.filter((each) => !waiters.includes(each));
  }

  /** Returns true if another call may wait. */
  hasRoomFor(bytes: number): boolean {
    return this.#calls.length < this.#limits.calls && this.bytes + bytes <= this.#limits.bytes;
  }

  /** Returns the error for a call that may not wait. @param callMs expected duration of a call */
  overloaded(callMs: number): MsmError {
    const { calls, bytes } = this.#limits;
    const { length } = this.#calls;
    const retryAfterMs = Math.ceil(Math.max(1, callMs * (length + 1)));
    const held = `${length} calls with ${this.bytes} bytes wait already`;
    const limit = `maxQueued allows ${calls} calls with ${bytes} bytes`;
    return new MsmError('overloaded', `${held}, and ${limit}; call again in ${retryAfterMs} ms`, { retryAfterMs });
  }

  /**
   * Takes out the calls to coalesce with `leader`, none of which is less urgent, and joins them to
   * it.
   */
  takeCoalesced(leader: Waiting, request: Coalescing | undefined): readonly CoalescedCall[] {
    if (request === undefined || this.#calls.length === 0) return [];
    const requests = this.#calls
      .filter((each) => !isMoreUrgent(leader, each))
      .sort((one, other) => dueTime(one) - dueTime(other))
      .flatMap((each) => each.request ?? []);
    const chosen = new Set(request.coalesced(requests));
    const waiters = this.#calls.filter((each) => each.request !== undefined && chosen.has(each.request));
    this.remove(...waiters);
    return waiters.map((each) => each.join());
  }
}

/** Request of a call that may be computed together with requests of other calls. */
export interface Coalescing {
  /** Selects the waiting requests worth computing together with this one. */
  coalesced(waiting: readonly Coalescing[]): readonly Coalescing[];
}

/** A call that another call, its leader, computes. */
export interface CoalescedCall extends Waiting {
  readonly request: Coalescing;
  readonly signal: AbortSignal | undefined;
  readonly notify: Notify;
  settle(result: unknown): void;
  fail(error: unknown): void;
  /**
   * Queues the call again, without coalescing: another request of the group may be the one that
   * failed.
   */
  separate(): void;
}

/**
 * Result of a coalesced call; boxed, because a promise that resolves with a promise waits for it.
 */
interface CoalescedResult {
  readonly result: Promise<unknown>;
}

/** Result of a coalesced call that has to be computed by itself. */
const SEPARATED = Symbol('separated');

/** Joins a waiting call to a leader: returns the call as the leader sees it, and its result. */
const joinLeader = (
  call: Waiting,
  own: Pick<CoalescedCall, 'request' | 'signal' | 'notify'>,
): { readonly joined: CoalescedCall; readonly result: Promise<unknown> } => {
  let settle: (result: unknown) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const result = new Promise<unknown>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  const { request, signal } = own;
  const unsubscribe = onAbort(signal, () => fail(abortedBy(signal)));
  let isOver = false;
  const end = (): void => {
    isOver = true;
    unsubscribe();
  };
  result.then(end, end);
  const notify: Notify = (event: EngineEvent['event']) => isOver || own.notify(event);
  const separate = (): void => settle(SEPARATED);
  return { joined: { ...call, request, signal, notify, settle, fail, separate }, result };
};

/** Returns the urgency of a group: the highest priority and the earliest due time of its calls. */
const groupUrgency = (leader: Waiting, coalesced: readonly Waiting[]): Waiting => {
  if (coalesced.length === 0) return leader;
  const { priority } = coalesced.reduce((most, each) => (isMoreUrgent(each, most) ? each : most), leader);
  return { priority, since: leader.since, deadline: Math.min(...[leader, ...coalesced].map(dueTime)) };
};

class ExclusiveSections {
  /** Calls that wait for their section or are in it, in order of arrival. */
  #entering: (() => void)[] = [];
  #isOccupied = false;
  readonly #advance: () => void;

  /** @param advance called after each change; it starts calls and calls `enterNext` */
  constructor(advance: () => void) {
    this.#advance = advance;
  }

  /** True while a call is in its section. */
  get isOccupied(): boolean {
    return this.#isOccupied;
  }

  /** True while no call waits for a section or is in one. */
  get isEmpty(): boolean {
    return this.#entering.length === 0;
  }

  /** Lets the first call enter once all active calls wait for a section. */
  enterNext(activeCalls: number): void {
    const [enter] = this.#entering;
    if (enter === undefined || this.#isOccupied || activeCalls > this.#entering.length) return;
    this.#isOccupied = true;
    enter();
  }

  /**
   * Runs the work of an active call exclusively.
   *
   * @param signal ends the wait before the section
   * @throws MsmError `aborted`, before the work begins
   */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#entering = this.#entering.filter((each) => each !== enter);
        reject(abortedBy(signal));
        this.#advance();
      };
      const enter = (): void => {
        unsubscribe();
        resolve();
      };
      assertNotAborted(signal);
      const unsubscribe = onAbort(signal, leave);
      this.#entering.push(enter);
      this.#advance();
    });
    try {
      return await work();
    } finally {
      this.#entering.shift();
      this.#isOccupied = false;
      this.#advance();
    }
  }
}

/** Reports an event of one call. */
type Notify = (event: EngineEvent['event'], more?: Partial<EngineEvent>) => unknown;

/**
 * Returns a function that reports the events of a call to `onEvent`. Errors of `onEvent` are
 * ignored.
 */
const notifierOf =
  (
    onEvent: ((event: EngineEvent) => void) | undefined,
    call: Pick<EngineEvent, 'call' | 'kind' | 'priority' | 'bytes'>,
  ): Notify =>
  (event, more = {}) => {
    try {
      const at = performance.now();
      const returned: unknown = onEvent?.({ ...call, ...{ event, at, error: null, ms: null }, ...more });
      // an async function may reject instead of throwing
      if (returned instanceof Promise) returned.catch(() => undefined);
    } catch {}
  };

/** Returns the code that events give for an error. */
const codeOf = (error: unknown): NonNullable<EngineEvent['error']> =>
  error instanceof MsmError ? error.code : 'other';
