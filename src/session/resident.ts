/** Data that stays on a device for many calls: bases, scalars, and vectors computed there. */
import type { Runner } from '../gpu/runner.js';
import type { CallContext } from './call-context.js';

/** The interface of a resident to the session. */
export interface Resident {
  /** Plural noun for errors, such as `bases`. */
  readonly noun: string;
  readonly label: string;
  /** Returns the buffer on the runner's device; null if the resident is not there. */
  bufferOn(runner: Runner): GPUBuffer | null;
  /** True if the contents on the device must be compared with what was loaded. */
  readonly isSuspect: boolean;
  /** True if `confirm` compares anything. */
  readonly canConfirm: boolean;
  /** Compares the contents with what was loaded. Returns false and stays suspect if they differ. */
  confirm(runner: Runner, call: CallContext): Promise<boolean>;
  /** Notes an error that wrong contents may have caused. */
  suspect(): void;
  /**
   * Loads the resident to the device, from its copy in main memory.
   *
   * @throws MsmError `device-lost`, `internal` where there is no copy
   */
  bring(runner: Runner, call: CallContext): Promise<void>;
  /** @throws MsmError `destroyed` */
  assertAlive(): void;
  /** Frees the buffer. */
  destroy(): void;
}

/** Counts suspicions, so that one raised during a comparison is not lost. */
export class Suspicion {
  #raised = 0;
  #cleared = 0;

  get isRaised(): boolean {
    return this.#raised > this.#cleared;
  }

  raise(): void {
    this.#raised++;
  }

  /** Withdraws all suspicions, after the contents were loaded again. */
  reset(): void {
    this.#cleared = this.#raised;
  }

  /**
   * Withdraws the suspicions raised before the call if `areRight` returns true.
   *
   * @returns the result of `areRight`
   */
  async clear(areRight: () => Promise<boolean>): Promise<boolean> {
    const seen = this.#raised;
    const found = await areRight();
    if (found) this.#cleared = Math.max(this.#cleared, seen);
    return found;
  }
}
