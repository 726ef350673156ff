/** Data that stays on a device for many calls: bases, scalars, and vectors that were computed there. */
import type { Runner } from '../gpu/runner.js';
import type { CallContext } from './call-context.js';

/** A resident as the session handles it. */
export interface Resident {
  readonly label: string;
  /** Returns its buffer on the runner's device; null if it is not there. */
  bufferOn(runner: Runner): GPUBuffer | null;
  /** Returns true if its contents on the device are to be compared with what was put there. */
  readonly isSuspect: boolean;
  /** True if `confirm` compares anything. */
  readonly canConfirm: boolean;
  /** Compares its contents with what was put there. A difference leaves it suspect. */
  confirm(runner: Runner, call: CallContext): Promise<boolean>;
  /** Notes that something went wrong that its contents may have caused. */
  suspect(): void;
  /**
   * Brings it to the device, from its copy in main memory.
   *
   * @throws MsmError `device-lost`, `internal` where there is no copy
   */
  bring(runner: Runner, call: CallContext): Promise<void>;
  /** @throws MsmError `destroyed` */
  assertAlive(): void;
  /** Frees its buffer. */
  destroy(): void;
}

/** Counts suspicions, so that one that comes while the contents are compared is not lost. */
export class Suspicion {
  #raised = 0;
  #cleared = 0;

  get isRaised(): boolean {
    return this.#raised > this.#cleared;
  }

  raise(): void {
    this.#raised++;
  }

  /** Withdraws all: the contents are new. */
  reset(): void {
    this.#cleared = this.#raised;
  }

  /**
   * Withdraws the suspicions up to now if `areRight` finds nothing wrong.
   *
   * @returns what `areRight` found
   */
  async clear(areRight: () => Promise<boolean>): Promise<boolean> {
    const seen = this.#raised;
    const found = await areRight();
    if (found) this.#cleared = Math.max(this.#cleared, seen);
    return found;
  }
}
