import type { HostTimes } from '../api/run-record.js';

/** Tells what the wall time of a call went to: at every moment to one part of `HostWalls`, or to none. It begins with `encodeMs`. */
export class CallClock {
  readonly #started = performance.now();
  readonly #spent: { -readonly [Part in keyof HostTimes]: number } = {
    encodeMs: 0,
    submitToResultMs: 0,
    readBackMs: 0,
  };
  #since = this.#started;
  #part: keyof HostTimes | null = 'encodeMs';

  /** From now on time counts to `part`; with null to none. */
  enter(part: keyof HostTimes | null): void {
    const now = performance.now();
    if (this.#part !== null) this.#spent[this.#part] += now - this.#since;
    this.#part = part;
    this.#since = now;
  }

  /** Calls what counts to no part: code of the caller's. */
  leaveOut(call: () => void): void {
    const part = this.#part;
    this.enter(null);
    try {
      call();
    } finally {
      this.enter(part);
    }
  }

  /** Milliseconds up to now: since the clock was made, and by part. */
  read(): { wallMs: number; hostTimes: HostTimes } {
    this.enter(this.#part);
    return { wallMs: this.#since - this.#started, hostTimes: { ...this.#spent } };
  }
}
