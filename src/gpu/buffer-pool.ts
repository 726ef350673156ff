/** Scratch that jobs have done with and the next may have: of all who share a device. */
import type { Ledger } from './ledger.js';

/** A buffer that nobody has. */
export interface PooledBuffer {
  readonly buffer: GPUBuffer;
  readonly usage: number;
  /** The one that counts it. */
  readonly ledger: Ledger;
  /** The number of the last job whose commands use it. */
  readonly usedBy: number;
  /** To be destroyed as soon as these are done. */
  isDoomed: boolean;
}

/** A buffer that is wanted, by its size, in bytes, as it would be made. */
export interface Want {
  readonly name: string;
  readonly bytes: number;
  readonly usage: number;
}

/** What is destroyed at a time, at most: the next step waits until others had their turn. */
const STEP_BUFFERS = 32;
const STEP_BYTES = 2 ** 28;

export class BufferPool {
  #kept: PooledBuffer[] = [];

  /** What is there for jobs to have. */
  get free(): readonly PooledBuffer[] {
    return this.#kept.filter(({ isDoomed }) => !isDoomed);
  }

  /** What is still to be destroyed. */
  get doomed(): readonly PooledBuffer[] {
    return this.#kept.filter(({ isDoomed }) => isDoomed);
  }

  keep(kept: PooledBuffer): void {
    this.#kept.push(kept);
  }

  /** Which of those that are free would serve what is wanted: for each the smallest that is large enough. */
  match(wants: readonly Want[]): ReadonlyMap<string, PooledBuffer> {
    const left = this.free.toSorted((one, other) => one.buffer.size - other.buffer.size);
    const found = new Map<string, PooledBuffer>();
    // the largest first, as what serves a larger one would serve all smaller ones
    for (const { name, bytes, usage } of wants.toSorted((one, other) => other.bytes - one.bytes)) {
      const at = left.findIndex((kept) => kept.usage === usage && kept.buffer.size >= bytes);
      if (at !== -1) found.set(name, left.splice(at, 1)[0] as PooledBuffer);
    }
    return found;
  }

  /** Gives buffers to a job of whoever counts its own in a ledger. */
  take(taken: ReadonlySet<PooledBuffer>, ledger: Ledger): void {
    this.#kept = this.#kept.filter((kept) => !taken.has(kept));
    for (const kept of taken) kept.ledger.handOver(kept.buffer, ledger);
  }

  doom(isMeant: (kept: PooledBuffer) => boolean): void {
    for (const kept of this.#kept) if (isMeant(kept)) kept.isDoomed = true;
  }

  /**
   * Destroys what is to be, and used by no job that is not done; no more than a step's worth.
   *
   * @param done the number of the last job that is
   * @returns how many were destroyed
   */
  reclaim(done: number): number {
    let [count, bytes] = [0, 0];
    this.#kept = this.#kept.filter(({ isDoomed, usedBy, buffer, ledger }) => {
      if (!isDoomed || usedBy > done || count >= STEP_BUFFERS || (count > 0 && bytes + buffer.size > STEP_BYTES))
        return true;
      count++;
      bytes += buffer.size;
      ledger.destroy(buffer);
      return false;
    });
    return count;
  }

  /** Destroys everything of a ledger, whoever may still use it. */
  clear(ledger: Ledger): void {
    for (const kept of this.#kept) if (kept.ledger === ledger) ledger.destroy(kept.buffer);
    this.#kept = this.#kept.filter((kept) => kept.ledger !== ledger);
  }
}
