/** Copies of callers' bytes, in memory that earlier copies have left. */

/** Bytes of the smallest copy whose memory is kept. */
const LEAST_BYTES = 2 ** 16;

/** Copies whose memory is kept: those of a small batch. */
const MOST_KEPT = 4;

/**
 * Keeps the memory of copies that are no longer used, for copies of the same length. A page of
 * fresh memory is zeroed at its first use, which takes longer than the copy. Garbage collection may
 * take what is kept.
 */
export class SpareBytes {
  /** Memory of the copies that were made here. */
  readonly #own = new WeakSet<ArrayBuffer>();
  #kept: WeakRef<ArrayBuffer>[] = [];

  copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const { length } = bytes;
    if (length < LEAST_BYTES) return new Uint8Array(bytes);
    const spare = this.#take(length);
    const copy = spare === undefined ? new Uint8Array(bytes) : new Uint8Array(spare);
    if (spare !== undefined) copy.set(bytes);
    this.#own.add(copy.buffer);
    return copy;
  }

  /** Keeps the memory of a copy that nothing uses any more. Other memory is left alone. */
  giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
    // memory that is kept already has left this set
    if (!this.#own.delete(buffer)) return;
    this.#kept = [new WeakRef(buffer), ...this.#kept].slice(0, MOST_KEPT);
  }

  #take(length: number): ArrayBuffer | undefined {
    const found = this.#kept.find((each) => each.deref()?.byteLength === length);
    this.#kept = this.#kept.filter((each) => each !== found);
    return found?.deref();
  }
}
