/** How long the CPU may compute before the page gets a turn, in milliseconds: a frame. */
const TURN_MS = 16;

/** Gives the page its turn whenever 16 ms have passed. While it is asked often it looks at the clock now and then only. */
export class TimeSlice {
  readonly #onTurn: () => Promise<void> | void;
  #asked = 0;
  #last = performance.now();
  #waitedMs = 0;

  /** @param onTurn called between pieces of work of some 16 ms, and waited for; what it throws ends the computation */
  constructor(onTurn: () => Promise<void> | void) {
    this.#onTurn = onTurn;
  }

  /** Milliseconds that `onTurn` took, all in all. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Whether `take` is due; to be asked between steps of microseconds. */
  get isOverSoon(): boolean {
    return ++this.#asked % 64 === 0 && this.isOver;
  }

  /** The same, between steps of milliseconds. */
  get isOver(): boolean {
    return performance.now() - this.#last > TURN_MS;
  }

  async yield(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await this.checkpoint();
    this.#last = performance.now();
  }

  /** What comes with a turn, where the page has had its own. */
  async checkpoint(): Promise<void> {
    const begun = performance.now();
    await this.#onTurn();
    this.#waitedMs += performance.now() - begun;
  }
}
