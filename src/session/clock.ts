import type { HostTimes } from '../api/run-record.js';

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
