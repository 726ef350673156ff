/**
 * A call on its way down: its place in the queues, its end, its clock and its progress. The queue of
 * an engine makes it once; routers, backends, sessions and runners take it as it is.
 */
import type { Priority, Progress } from '../api/calls.js';
import type { HostTimes } from '../api/run-record.js';
import { assertNotAborted } from '../errors.js';
import type { Ticket } from './edf.js';
import { TimeSlice } from './time-slice.js';

/** Parts of a call. */
export interface CallParts extends Partial<Ticket> {
  readonly clock?: CallClock | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Throws if the engine can run no call any more. */
  readonly assertUsable?: (() => void) | undefined;
  /** As `Call.exclusive`; without it, no other call runs meanwhile. */
  readonly exclusive?: (<Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>) | undefined;
}

/** A running call, and its ticket. Without parts: work of no call, of normal priority. */
export class Call implements Ticket {
  readonly priority: Priority;
  readonly since: number;
  readonly deadline: number | null;
  readonly call: object | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onBegun: Ticket['onBegun'];
  readonly onRefused: Ticket['onRefused'];
  readonly onSubmitted: Ticket['onSubmitted'];
  readonly onComputed: Ticket['onComputed'];
  readonly clock: CallClock;
  readonly #parts: CallParts;

  constructor(parts: CallParts = {}) {
    this.#parts = parts;
    this.priority = parts.priority ?? 'normal';
    this.since = parts.since ?? performance.now();
    this.deadline = parts.deadline ?? null;
    this.call = parts.call;
    this.signal = parts.signal;
    this.onBegun = parts.onBegun;
    this.onRefused = parts.onRefused;
    this.onSubmitted = parts.onSubmitted;
    this.onComputed = parts.onComputed;
    this.clock = parts.clock ?? new CallClock();
  }

  /**
   * Throws if the call was aborted or its engine cannot go on. Operations call it between steps.
   *
   * @throws MsmError `aborted`, `destroyed`, `device-lost`
   */
  checkpoint(): void {
    this.#parts.assertUsable?.();
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
    const { exclusive } = this.#parts;
    if (exclusive === undefined) return work();
    const { part } = this.clock;
    this.clock.enter(null);
    return exclusive(() => {
      this.clock.enter(part);
      return work();
    }, this.signal);
  }

  /** Returns time slices between which the call ends if it was aborted, or its engine destroyed. */
  timeSlice(): TimeSlice {
    return new TimeSlice(() => this.checkpoint());
  }

  /** Returns this call with other parts. */
  with(parts: CallParts): Call {
    const { since, clock } = this;
    return new Call({ ...this.#parts, since, clock, ...parts });
  }

  /**
   * Returns this call for a part of its work: with a clock of its own, and progress of the whole.
   *
   * @param before work that is done
   * @param own work of the part
   * @param total all work of the call
   */
  part(before: number, own: number, total: number): Call {
    const onProgress = ({ phase, done, total: all }: Progress): void =>
      this.progress(phase, before + Math.floor((own * done) / all), total);
    return this.with({ clock: new CallClock(), onProgress });
  }

  /** Returns one half of a divided call: with a clock of its own and without progress. */
  half(): Call {
    return this.with({ clock: new CallClock(), onProgress: undefined });
  }

  /**
   * Returns this call with one more condition that ends it.
   *
   * @param assertUsable throws to end it
   */
  alsoEndedBy(assertUsable: () => void): Call {
    const both = (): void => {
      this.#parts.assertUsable?.();
      assertUsable();
    };
    return this.with({ assertUsable: both });
  }

  /**
   * Returns a call for self-tests and reloads inside this call: of normal priority, without
   * progress, and ended when this call ends. Its work counts as work of this call.
   */
  detached(): Call {
    return new Call({ call: this.call, assertUsable: () => this.checkpoint() });
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
