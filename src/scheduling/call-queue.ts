/**
 * Queue of an engine's calls: earliest deadline first, with a limit on active and on waiting calls.
 */
import type { Priority } from '../api/calls.js';
import type { EngineEvent, EngineStats } from '../api/sharing.js';
import { Ending } from '../ending.js';
import { abortedBy, assertNotAborted, type MsmError, onAbort } from '../errors.js';
import { codeOf, type Notify, notifierOf } from './call-events.js';
import {
  type CoalescedCall,
  type CoalescedResult,
  type Coalescing,
  groupUrgency,
  joinLeader,
  SEPARATED,
} from './coalescing.js';
import { earliestDue, isMoreUrgent, type Waiting } from './edf.js';
import { ExclusiveSections } from './exclusive-sections.js';
import type { Ticket } from './ticket.js';
import { type QueueCaps, type Waiter, WaitingCalls } from './waiting-calls.js';

/** Description of a call for the queue. */
export interface QueuedCall {
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

/** Ticket of an active call. */
export interface CallTicket extends Ticket {
  /**
   * Runs work whose intermediate state no other call may see. Meanwhile the only other active calls
   * of the engine wait for an exclusive section as well.
   *
   * @param signal ends the wait before the work
   * @throws MsmError `aborted`, before the work begins
   */
  exclusive<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result>;
  /** Calls that this call computes with its own request. */
  readonly coalesced: readonly CoalescedCall[];
}

/** A call, with its place in the queue. */
interface Call extends Pick<QueuedCall, 'bytes' | 'signal' | 'request'> {
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
    task: (ticket: CallTicket) => Promise<Result>,
    { kind, priority, deadline, bytes, signal, request }: QueuedCall,
    abandon: Abandon<Result> = () => undefined,
  ): Promise<Result> {
    const notify = notifierOf(this.#onEvent, { call: this.#calls++, kind, priority, bytes });
    const since = performance.now();
    const waiting: Waiting = { priority, since, deadline: deadline === null ? null : since + deadline };
    let own: Call = { waiting, bytes, signal, request, notify };
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
  #beginOrQueue(call: Call): Promise<CoalescedResult | null> | null {
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
  #work<Result>(task: (ticket: CallTicket) => Promise<Result>, own: Call, abandon: Abandon<Result>): Promise<Result> {
    const { waiting, signal } = own;
    let isOver = false;
    const ticket = this.#ticketOf({ ...own, notify: (event) => isOver || own.notify(event) });
    const compute = async (): Promise<Result> => {
      const begun = performance.now();
      try {
        return await task(ticket);
      } finally {
        this.#end(waiting, (performance.now() - begun) / (1 + ticket.coalesced.length));
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

  #ticketOf({ waiting, signal, request, notify }: Call): CallTicket {
    const coalesced = this.#waiting.takeCoalesced(waiting, request);
    this.#counts.merged += coalesced.length;
    const notifyAll = (event: EngineEvent['event']): void => {
      notify(event);
      for (const call of coalesced) call.notify(event);
    };
    return {
      ...groupUrgency(waiting, coalesced),
      ...{ call: waiting, signal, coalesced },
      exclusive: (work, other) => this.#sections.run(work, other),
      onSubmitted: () => notifyAll('submitted'),
      onComputed: () => notifyAll('computed'),
    };
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
  #queue({ waiting: call, bytes, signal, request, notify }: Call): Promise<CoalescedResult | null> {
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
