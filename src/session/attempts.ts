import { GpuFault } from '../errors.js';

/** Repeats the work of a call after the GPU computed wrongly, a limited number of times. */
export class Attempts {
  #left: number;
  #retried: string | null = null;

  /** @param retries attempts after the first */
  constructor(retries: number) {
    this.#left = retries;
  }

  /** Reason of the first repetition; null: there was none. */
  get retried(): string | null {
    return this.#retried;
  }

  /**
   * Runs `work` until it succeeds or no attempt is left.
   *
   * @param repair called with each fault, before the next attempt
   * @throws GpuFault of the last attempt; anything else that `work` throws
   */
  async run<Result>(work: () => Promise<Result>, repair?: () => void): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof GpuFault)) throw error;
        repair?.();
        if (this.#left === 0) throw error;
        this.#left--;
        this.#retried ??= error.message;
      }
    }
  }
}
