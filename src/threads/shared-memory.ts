/**
 * Shared memory that is allocated once and reused: a worker keeps the buffer of a message until it
 * collects its garbage, which it rarely does.
 */
export class SharedMemory {
  #buffer: SharedArrayBuffer | null = null;

  /** Returns `words` uninitialised words; invalidates the words returned before. */
  take(words: number): Uint32Array<SharedArrayBuffer> {
    const bytes = words * Uint32Array.BYTES_PER_ELEMENT;
    // sizes are powers of two: all outgrown buffers together are no larger than the current one
    if (this.#buffer === null || this.#buffer.byteLength < bytes)
      this.#buffer = new SharedArrayBuffer(2 ** Math.ceil(Math.log2(bytes)));
    return new Uint32Array(this.#buffer, 0, words);
  }

  /** Drops the buffer, which may be secret or still be written to: the next `take` allocates. */
  drop(): void {
    this.#buffer = null;
  }
}
