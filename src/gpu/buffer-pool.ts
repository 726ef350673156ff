/** Pooled scratch of a device: buffers that no submission holds and that the next one may take. */
import type { Ledger } from './ledger.js';

/** A pooled buffer. */
export interface PooledBuffer {
  readonly buffer: GPUBuffer;
  readonly usage: number;
  /** The ledger that counts it. */
  readonly ledger: Ledger;
  /** Sequence number of the last submission whose commands use it. */
  readonly usedBy: number;
  /** True if it is destroyed once these commands are done. */
  isRetired: boolean;
}

/** A buffer that a submission wants: its size in bytes and its usage. */
export interface Want {
  readonly name: string;
  readonly bytes: number;
  readonly usage: number;
}

export class BufferPool {
  #buffers: PooledBuffer[] = [];
  /** Numbers of buffers in the order in which they came. */
  readonly #numbers = new WeakMap<GPUBuffer, number>();
  #count = 0;

  /** Buffers that submissions may take. */
  get free(): readonly PooledBuffer[] {
    return this.#buffers.filter(({ isRetired }) => !isRetired);
  }

  /** Buffers that will be destroyed. */
  get retired(): readonly PooledBuffer[] {
    return this.#buffers.filter(({ isRetired }) => isRetired);
  }

  keep(pooled: PooledBuffer): void {
    if (!this.#numbers.has(pooled.buffer)) this.#numbers.set(pooled.buffer, this.#count++);
    this.#buffers.push(pooled);
  }

  /**
   * Returns for each want the smallest free buffer that serves it, where there is one. The same
   * wants get the same buffers again, so that bind groups made for them can be used again.
   */
  match(wants: readonly Want[]): ReadonlyMap<string, PooledBuffer> {
    const numberOf = ({ buffer }: PooledBuffer): number => this.#numbers.get(buffer) as number;
    const left = this.free.toSorted(
      (one, other) => one.buffer.size - other.buffer.size || numberOf(one) - numberOf(other),
    );
    const found = new Map<string, PooledBuffer>();
    // the largest want first: a buffer that serves it would serve all smaller ones
    for (const { name, bytes, usage } of wants.toSorted((one, other) => other.bytes - one.bytes)) {
      const at = left.findIndex((pooled) => pooled.usage === usage && pooled.buffer.size >= bytes);
      if (at !== -1) found.set(name, left.splice(at, 1)[0] as PooledBuffer);
    }
    return found;
  }

  /** Transfers pooled buffers to `ledger`. */
  take(taken: ReadonlySet<PooledBuffer>, ledger: Ledger): void {
    this.#buffers = this.#buffers.filter((pooled) => !taken.has(pooled));
    for (const pooled of taken) pooled.ledger.transfer(pooled.buffer, ledger);
  }

  /** Retires buffers: no submission may take them any more. */
  retire(isMeant: (pooled: PooledBuffer) => boolean): void {
    for (const pooled of this.#buffers) if (isMeant(pooled)) pooled.isRetired = true;
  }

  /**
   * Destroys retired buffers that no submission uses.
   *
   * @param done sequence number of the last submission that is done
   * @returns the number of destroyed buffers
   */
  reclaim(done: number): number {
    const over = this.#buffers.filter(({ isRetired, usedBy }) => isRetired && usedBy <= done);
    if (over.length === 0) return 0;
    this.#buffers = this.#buffers.filter((pooled) => !over.includes(pooled));
    for (const { ledger, buffer } of over) ledger.destroy(buffer);
    return over.length;
  }

  /** Destroys all buffers of a ledger, even those in use. */
  clear(ledger: Ledger): void {
    for (const pooled of this.#buffers) if (pooled.ledger === ledger) ledger.destroy(pooled.buffer);
    this.#buffers = this.#buffers.filter((pooled) => pooled.ledger !== ledger);
  }
}
