/** A running call: its ticket, its abort signal, its clock and its progress. */
import type { Progress } from '../api/calls.js';
import type { HostTimes } from '../api/run-record.js';
import { assertNotAborted } from '../errors.js';
import type { CallTicket } from '../scheduling/call-queue.js';
import { ticketOf } from '../scheduling/edf.js';

/** Parts of a call context. */
interface CallParts {
  /** Ticket of the call in the queues; undefined for work outside the queues. */
  readonly ticket: CallTicket | undefined;
  readonly clock: CallClock;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Throws if the engine can run no call any more. */
  assertUsable(): void;
}

/** A running call: its ticket, its abort signal, its clock and its progress. */
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
   * Throws if the call was aborted or its engine cannot go on. Operations call it between steps.
   *
   * @throws MsmError `aborted`, `destroyed`, `device-lost`
   */
  checkpoint(): void {
    this.#parts.assertUsable();
    assertNotAborted(this.signal);
  }

  /** Reports progress to the caller. The time in the caller's callback does not count. */
  progress(phase: string, done: number, total: number): void {
    this.clock.leaveOut(() => this.#parts.onProgress?.({ phase, done, total }));
  }

  /**
   * Runs `work` while no other call of the engine runs, except calls that wait for exclusive work
   * as well. The wait does not count as time of the call.
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

  /** Returns this call with another ticket. */
  withTicket(ticket: CallTicket): CallContext {
    return new CallContext({ ...this.#parts, ticket });
  }

  /** Returns one half of a divided call: with a clock of its own and without progress. */
  half(): CallContext {
    return new CallContext({ ...this.#parts, clock: new CallClock(), onProgress: undefined });
  }

  /**
   * Returns this call with one more condition that ends it.
   *
   * @param assertUsable throws to end it
   */
  alsoEndedBy(assertUsable: () => void): CallContext {
    const both = (): void => {
      this.#parts.assertUsable();
      assertUsable();
    };
    return new CallContext({ ...this.#parts, assertUsable: both });
  }

  /**
   * Returns a context for self-tests and reloads inside this call: of normal priority, without
   * progress, and ended when this call ends. Its work counts as work of this call.
   */
  detached(): CallContext {
    const ticket: CallTicket = {
      ...ticketOf(undefined),
      ...(this.ticket?.call && { call: this.ticket.call }),
      exclusive: (work) => work(),
      coalesced: [],
    };
    return new CallContext({
      ticket,
      clock: new CallClock(),
      assertUsable: () => this.checkpoint(),
    });
  }
}

/** Splits the wall time of a call by the parts of `HostTimes`. Begins with `encodeMs`. */
export class CallClock {
  readonly #started = performance.now();
  readonly #spent: { -readonly [Part in keyof HostTimes]: number } = {
    encodeMs: 0,
    submitToResultMs: 0,
    readBackMs: 0,
  };
  #since = this.#started;
  #part: keyof HostTimes | null = 'encodeMs';

  /** Current part; null: time counts to none. */
  get part(): keyof HostTimes | null {
    return this.#part;
  }

  /** Counts time to `part` from now on. @param part null: time counts to none */
  enter(part: keyof HostTimes | null): void {
    const now = performance.now();
    if (this.#part !== null) this.#spent[this.#part] += now - this.#since;
    this.#part = part;
    this.#since = now;
  }

  /** Runs a callback of the caller. Its time counts to no part. */
  leaveOut(call: () => void): void {
    const part = this.#part;
    this.enter(null);
    try {
      call();
    } finally {
      this.enter(part);
    }
  }

  /** Returns the time since the clock was made, in ms, in all and by part. */
  read(): { wallMs: number; hostTimes: HostTimes } {
    this.enter(this.#part);
    return { wallMs: this.#since - this.#started, hostTimes: { ...this.#spent } };
  }
}
