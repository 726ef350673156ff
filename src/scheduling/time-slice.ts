/** Longest time that the CPU computes before the event loop runs, in milliseconds: a frame. */
const SLICE_MS = 16;

/** Lets the page's event loop run every 16 ms. */
export class TimeSlice {
  readonly #onCheckpoint: () => Promise<void> | void;
  #asked = 0;
  #last = performance.now();
  #waitedMs = 0;

  /**
   * @param onCheckpoint called and awaited after each time slice; its errors end the computation
   */
  constructor(onCheckpoint: () => Promise<void> | void) {
    this.#onCheckpoint = onCheckpoint;
  }

  /** Milliseconds that `onCheckpoint` has taken in total. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** True if `yield` is due; for steps of microseconds, it reads the clock every 64th time. */
  get isOverSoon(): boolean {
    return ++this.#asked % 64 === 0 && this.isOver;
  }

  /** True if `yield` is due; for steps of milliseconds. */
  get isOver(): boolean {
    return performance.now() - this.#last > SLICE_MS;
  }

  /** Lets the event loop run, and passes a checkpoint. */
  async yield(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await this.checkpoint();
    this.#last = performance.now();
  }

  /** Calls `onCheckpoint`, where the event loop has run already. */
  async checkpoint(): Promise<void> {
    const begun = performance.now();
    await this.#onCheckpoint();
    this.#waitedMs += performance.now() - begun;
  }
}
