import type { Progress } from '../api/calls.js';
import { assertNotAborted } from '../errors.js';
import type { CallTicket } from '../scheduling/call-queue.js';
import { CallClock } from './clock.js';

/** Parts of a call that its context is made of. */
export interface CallParts {
  /** Place of the call in the queues; undefined for work that no queue knows. */
  readonly ticket: CallTicket | undefined;
  readonly clock: CallClock;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Throws when the engine can do no more for any call. */
  assertUsable(): void;
}

/** A call under way: who may end it, who hears of its progress, where its time goes, and when it runs. */
export class CallContext {
  readonly ticket: CallTicket | undefined;
  readonly clock: CallClock;
  readonly #parts: CallParts;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.ticket = parts.ticket;
    this.clock = parts.clock;
  }

  get signal(): AbortSignal | undefined {
    return this.ticket?.signal;
  }

  /**
   * Ends work that has lost its purpose; called between steps.
   *
   * @throws MsmError `aborted`, `destroyed`, `device-lost`
   */
  checkpoint(): void {
    this.#parts.assertUsable();
    assertNotAborted(this.signal);
  }

  /** Tells the caller how far the call is. The caller's own time does not count. */
  progress(phase: string, done: number, total: number): void {
    this.clock.leaveOut(() => this.#parts.onProgress?.({ phase, done, total }));
  }

  /**
   * Runs `work` while no other call of the engine is under way, except those that wait for the same.
   * The wait does not count as time of the call.
   *
   * @throws MsmError `aborted`, before `work` begins
   */
  async exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.ticket === undefined) return work();
    const { part } = this.clock;
    this.clock.enter(null);
    return this.ticket.exclusive(() => {
      this.clock.enter(part);
      return work();
    }, this.signal);
  }

  /** Returns this call with another place in the queues. */
  withTicket(ticket: CallTicket): CallContext {
    return new CallContext({ ...this.#parts, ticket });
  }

  /** Returns this call with a clock of its own and without progress: for one half of a divided call. */
  half(): CallContext {
    return new CallContext({ ...this.#parts, clock: new CallClock(), onProgress: undefined });
  }

  /** Returns this call with one more condition under which it ends. */
  alsoEndedBy(assertUsable: () => void): CallContext {
    const both = (): void => {
      this.#parts.assertUsable();
      assertUsable();
    };
    return new CallContext({ ...this.#parts, assertUsable: both });
  }

  /** Returns a context that only ends with this call: for self-tests, whose submissions have no ticket. */
  detached(): CallContext {
    return new CallContext({
      ticket: undefined,
      clock: new CallClock(),
      assertUsable: () => this.checkpoint(),
    });
  }
}
