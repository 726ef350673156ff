/** Memory that workers see, too. */

/**
 * It is had again and again, and made anew only where it is too small: what a worker was sent it holds until it collects its garbage, which it has hardly
 * any reason to do.
 */
export class SharedWords {
  #buffer: SharedArrayBuffer | null = null;

  /** So many words, of which whoever took some before has no more use; they have whatever was there. */
  take(words: number): Uint32Array<SharedArrayBuffer> {
    const bytes = words * Uint32Array.BYTES_PER_ELEMENT;
    // of powers of two, those that grew too small are together no more than the last
    if (this.#buffer === null || this.#buffer.byteLength < bytes)
      this.#buffer = new SharedArrayBuffer(2 ** Math.ceil(Math.log2(bytes)));
    return new Uint32Array(this.#buffer, 0, words);
  }

  /** Has nobody have again what there was: it was secret, or somebody may still write to it. */
  drop(): void {
    this.#buffer = null;
  }
}
