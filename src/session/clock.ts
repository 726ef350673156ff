import type { HostTimes } from '../api/run-record.js';

/** Splits the wall time of a call by what the host does. Begins with `encodeMs`. */
export class CallClock {
  readonly #started = performance.now();
  readonly #spent: { -readonly [Part in keyof HostTimes]: number } = {
    encodeMs: 0,
    submitToResultMs: 0,
    readBackMs: 0,
  };
  #since = this.#started;
  #part: keyof HostTimes | null = 'encodeMs';

  /** The part that time counts to now; null: none. */
  get part(): keyof HostTimes | null {
    return this.#part;
  }

  /** Counts time to `part` from now on; with null to none. */
  enter(part: keyof HostTimes | null): void {
    const now = performance.now();
    if (this.#part !== null) this.#spent[this.#part] += now - this.#since;
    this.#part = part;
    this.#since = now;
  }

  /** Calls the caller's code, whose time counts to no part. */
  leaveOut(call: () => void): void {
    const part = this.#part;
    this.enter(null);
    try {
      call();
    } finally {
      this.enter(part);
    }
  }

  /** Returns milliseconds up to now: since the clock was made, and by part. */
  read(): { wallMs: number; hostTimes: HostTimes } {
    this.enter(this.#part);
    return { wallMs: this.#since - this.#started, hostTimes: { ...this.#spent } };
  }
}
