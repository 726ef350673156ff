/** How long the CPU may compute before the page gets a turn, in milliseconds: a frame. */
const TURN_MS = 16;

/** Gives the page its turn whenever 16 ms have passed. While it is asked often it looks at the clock now and then only. */
export class Turns {
  readonly #onTurn: () => void;
  #asked = 0;
  #last = performance.now();

  /** @param onTurn called between pieces of work of some 16 ms; what it throws ends the computation */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /** Whether `take` is due; to be asked between steps of microseconds. */
  get due(): boolean {
    return ++this.#asked % 64 === 0 && this.areOver;
  }

  /** The same, between steps of milliseconds. */
  get areOver(): boolean {
    return performance.now() - this.#last > TURN_MS;
  }

  async take(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#onTurn();
    this.#last = performance.now();
  }
}
