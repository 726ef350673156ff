/** Exclusive sections: work of one call, while no other call of the engine computes. */
import { abortedBy, assertNotAborted, onAbort } from '../errors.js';

export class ExclusiveSections {
  /** Calls that wait for their section or are in it, in order of arrival. */
  #entering: (() => void)[] = [];
  #isOccupied = false;
  readonly #advance: () => void;

  /** @param advance called after each change; it starts calls and calls `enterNext` */
  constructor(advance: () => void) {
    this.#advance = advance;
  }

  /** True while a call is in its section. */
  get isOccupied(): boolean {
    return this.#isOccupied;
  }

  /** True while no call waits for a section or is in one. */
  get isEmpty(): boolean {
    return this.#entering.length === 0;
  }

  /** Lets the first call enter once all active calls wait for a section. */
  enterNext(activeCalls: number): void {
    const [enter] = this.#entering;
    if (enter === undefined || this.#isOccupied || activeCalls > this.#entering.length) return;
    this.#isOccupied = true;
    enter();
  }

  /**
   * Runs the work of an active call exclusively.
   *
   * @param signal ends the wait before the section
   * @throws MsmError `aborted`, before the work begins
   */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#entering = this.#entering.filter((each) => each !== enter);
        reject(abortedBy(signal));
        this.#advance();
      };
      const enter = (): void => {
        unsubscribe();
        resolve();
      };
      assertNotAborted(signal);
      const unsubscribe = onAbort(signal, leave);
      this.#entering.push(enter);
      this.#advance();
    });
    try {
      return await work();
    } finally {
      this.#entering.shift();
      this.#isOccupied = false;
      this.#advance();
    }
  }
}
