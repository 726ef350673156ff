/** Calls that wait for their turn, within limits. */
import type { QueueLimits } from '../api/sharing.js';
import { MsmError } from '../errors.js';
import type { CoalescedCall, Coalescing } from './coalescing.js';
import { dueTime, isMoreUrgent, type Waiting } from './edf.js';

/** A call that waits. */
export interface Waiter extends Waiting {
  readonly bytes: number;
  /** Request of the call, where other calls may compute it with theirs. */
  readonly request: Coalescing | undefined;
  begin(): void;
  /** Joins the call to a leader, which computes it. */
  join(): CoalescedCall;
}

/** Limits on the calls that wait; Infinity: none. */
export type QueueCaps = Readonly<Record<keyof QueueLimits, number>>;

export class WaitingCalls {
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
