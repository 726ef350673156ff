/** The calls of an engine: a few at a time, the one that is due first, and no more waiting than there may be. */
import type { Priority } from '../api/calls.js';
import type { EngineEvent, EngineStats, QueueLimits } from '../api/sharing.js';
import { Ending } from '../ending.js';
import { abortedBy, assertNotAborted, MsmError, onAbort } from '../errors.js';
import type { Ticket } from '../scheduling/ticket.js';
import { dueTime, earliestDue, isMoreUrgent, type Waiting } from './edf.js';

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
  readonly order?: Coalescing | undefined;
}

/** Gives back a result that came when its call had ended already. */
export type Abandon<Result> = (result: Result) => void;

/** What a call wants computed, as others may. */
export interface Coalescing {
  /** Which of the orders that wait are worth being computed with this one. */
  coalesced(waiting: readonly Coalescing[]): readonly Coalescing[];
}

/** Tells whoever watches what happened to a call. */
type Tell = (event: EngineEvent['event'], more?: Partial<EngineEvent>) => unknown;

/** A call that is computed as part of another one. */
export interface CoalescedCall extends Waiting {
  readonly order: Coalescing;
  readonly signal: AbortSignal | undefined;
  readonly tell: Tell;
  settle(result: unknown): void;
  fail(error: unknown): void;
  /** Has it computed by itself, in its turn: what went wrong with others is none of its. */
  separate(): void;
}

/** What a call that is under way knows of its turn. */
export interface CallTicket extends Ticket {
  /**
   * Does what nobody else may see half done: no other call of the engine is under way meanwhile, but those that wait for the same.
   *
   * @param signal ends the waiting for it
   * @throws MsmError `aborted`, before
   */
  exclusive<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result>;
  /** Those that are computed with it. */
  readonly coalesced: readonly CoalescedCall[];
}

interface Waiter extends Waiting {
  readonly bytes: number;
  readonly order: Coalescing | undefined;
  begin(): void;
  join(): CoalescedCall;
}

/** A call, and what is known of it. */
interface Called extends Pick<QueuedCall, 'bytes' | 'signal' | 'order'> {
  readonly waiting: Waiting;
  readonly tell: Tell;
}

/** What comes of a call that another one computes; in a box, as a promise of a promise is one. */
interface Joined {
  readonly result: Promise<unknown>;
}

/** What comes of it where it has to be computed by itself. */
const PARTED = Symbol('parted');

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

/** Calls that are computed together are as urgent as the most urgent of them, and due when the first of them is. */
const urgencyOf = (call: Waiting, coalesced: readonly Waiting[]): Waiting => {
  if (coalesced.length === 0) return call;
  const { priority } = coalesced.reduce((most, each) => (isMoreUrgent(each, most) ? each : most), call);
  return { priority, since: call.since, deadline: Math.min(...[call, ...coalesced].map(dueTime)) };
};

const codeOf = (error: unknown): NonNullable<EngineEvent['error']> =>
  error instanceof MsmError ? error.code : 'other';

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
  /** Ends all calls with their engine. */
  readonly #ending = new Ending();

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

  /** Ends all calls, whatever they wait for. */
  end(error: MsmError): void {
    this.#ending.end(error);
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
    task: (ticket: CallTicket) => Promise<Result>,
    { kind, priority, deadline, bytes, signal, order }: QueuedCall,
    abandon: Abandon<Result> = () => undefined,
  ): Promise<Result> {
    const call = this.#calls++;
    const since = performance.now();
    const tell = (event: EngineEvent['event'], more: Partial<EngineEvent> = {}): void => {
      // what it throws, or rejects with, is a spectator's, who stops nobody
      try {
        const at = performance.now();
        const told: unknown = this.#onEvent?.({
          ...{ event, call, kind, priority, bytes, at, error: null, ms: null },
          ...more,
        });
        if (told instanceof Promise) told.catch(() => undefined);
      } catch {}
    };
    const waiting: Waiting = { priority, since, deadline: deadline === null ? null : since + deadline };
    let own: Called = { waiting, bytes, signal, order, tell };
    let from = since;
    let ticket: Promise<Joined | null> | null = null;
    if (this.#chosenOf([...this.#waiting, waiting]) === waiting) this.#begin(waiting);
    else {
      this.#assertRoom(bytes, tell);
      ticket = this.#turn(own);
    }
    for (;;) {
      let joined: Joined | null = null;
      if (ticket !== null) {
        tell('queued');
        try {
          joined = await this.#ending.race(ticket);
        } catch (error) {
          this.#counts.failed++;
          tell('ended', { error: codeOf(error), ms: performance.now() - from });
          throw error;
        }
      }
      // what the caller does next happens before the task begins
      await undefined;
      const begun = performance.now();
      this.#counts.waitedMs += begun - from;
      tell('started', { ms: begun - from });
      let result: unknown;
      try {
        result = await (joined === null ? this.#work(task, own, abandon) : this.#ending.race(joined.result));
      } catch (error) {
        this.#counts.failed++;
        tell('ended', { ms: performance.now() - begun, error: codeOf(error) });
        throw error;
      }
      if (result === PARTED) {
        this.#counts.merged--;
        own = { ...own, order: undefined };
        from = performance.now();
        ticket = this.#turn(own);
      } else {
        this.#counts.done++;
        tell('ended', { ms: performance.now() - begun });
        return result as Result;
      }
    }
  }

  /**
   * Does the work of a call that has its turn. A call that is aborted ends at once, and so do all with their engine: work that cannot be left
   * in the middle keeps its place until it sees that. Calls computed with an aborted one go on.
   */
  #work<Result>(task: (ticket: CallTicket) => Promise<Result>, own: Called, abandon: Abandon<Result>): Promise<Result> {
    const { waiting, signal } = own;
    let isOver = false;
    const ticket = this.#turnOf({ ...own, tell: (event) => isOver || own.tell(event) });
    const compute = async (): Promise<Result> => {
      const begun = performance.now();
      try {
        return await task(ticket);
      } finally {
        this.#end(waiting, (performance.now() - begun) / (1 + ticket.coalesced.length));
      }
    };
    const over = (): void => {
      isOver = true;
    };
    const computed = compute();
    const result = this.#ending.race(computed, signal);
    result.then(over, () => {
      over();
      computed.then(abandon, () => undefined);
    });
    return result;
  }

  #assertRoom(bytes: number, tell: Tell): void {
    const { calls, bytes: mostBytes } = this.#limits;
    const held = this.#waitingBytes;
    const isOver = this.#waiting.length >= calls || held + bytes > mostBytes;
    if (!isOver) return;
    this.#counts.refused++;
    tell('refused', { error: 'overloaded' });
    // before any has ended, what those have taken so far that are under way
    const took = this.#tookMs ?? performance.now() - this.#busySince;
    const wait = Math.ceil(Math.max(1, took * (this.#waiting.length + 1)));
    throw new MsmError(
      'overloaded',
      `${this.#waiting.length} calls with ${held} bytes wait already, and maxQueued allows ${calls} with ${mostBytes}; come back in ${wait} ms`,
      { retryAfterMs: wait },
    );
  }

  /**
   * Whose turn it is of some, if it is anybody's: who is due first has a free place. Where several may be under way at a time, whoever is more urgent than
   * all of these has one more; so nobody waits for what is less urgent, however long that has waited.
   */
  #chosenOf<Some extends Waiting>(waiting: readonly Some[]): Some | null {
    if (this.#isAlone) return null;
    const isFree = this.#parked.length === 0 && this.#active.size < this.#width;
    if (isFree) return waiting[earliestDue(waiting)] ?? null;
    if (this.#width === 1) return null;
    const urgent = waiting.filter((call) => [...this.#active].every((other) => isMoreUrgent(call, other)));
    return urgent[earliestDue(urgent)] ?? null;
  }

  #turnOf({ waiting, signal, order, tell }: Called): CallTicket {
    const coalesced = this.#companyOf(waiting, order);
    const tellAll = (event: EngineEvent['event']): void => {
      tell(event);
      for (const companion of coalesced) companion.tell(event);
    };
    return {
      ...urgencyOf(waiting, coalesced),
      ...{ call: waiting, signal, coalesced },
      exclusive: (work, other) => this.#alone(work, other),
      onSubmitted: () => tellAll('submitted'),
      onComputed: () => tellAll('computed'),
    };
  }

  /** Takes out of those that wait whoever is to be computed with a call; nobody who is less urgent. */
  #companyOf(call: Waiting, order: Coalescing | undefined): readonly CoalescedCall[] {
    if (order === undefined || this.#waiting.length === 0) return [];
    const orders = this.#waiting
      .filter((each) => !isMoreUrgent(call, each))
      .sort((one, other) => dueTime(one) - dueTime(other))
      .flatMap((each) => each.order ?? []);
    const chosen = new Set(order.coalesced(orders));
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
  #turn({ waiting: call, bytes, signal, order, tell }: Called): Promise<Joined | null> {
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
          const separate = (): void => settle(PARTED);
          return { ...call, order: order as Coalescing, signal, tell: tellOfIt, settle, fail, separate };
        },
      };
      // who was aborted before is told of nothing
      assertNotAborted(signal);
      const stay = onAbort(signal, leave);
      this.#waiting.push(waiter);
      this.#next();
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
      assertNotAborted(signal);
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
    if (first !== undefined && !this.#isAlone && this.#active.size <= this.#parked.length) {
      this.#isAlone = true;
      first();
    }
    for (;;) {
      const waiter = this.#chosenOf(this.#waiting);
      if (waiter === null) return;
      this.#waiting = this.#waiting.filter((each) => each !== waiter);
      waiter.begin();
    }
  }
}
