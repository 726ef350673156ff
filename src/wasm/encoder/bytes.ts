/** Growing buffer of bytes. */
export class Bytes {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#length + more));
    larger.set(this.written);
    this.#bytes = larger;
  }

  push(...values: readonly number[]): this {
    this.#reserve(values.length);
    for (const value of values) this.#bytes[this.#length++] = value;
    return this;
  }

  append(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** Appends an unsigned number in LEB128. */
  unsigned(value: number): this {
    let rest = value;
    while (rest > 127) {
      this.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    return this.push(rest);
  }

  /** Appends a signed number in LEB128. */
  signed(value: bigint): this {
    for (let rest = value; ; ) {
      const byte = Number(rest & 127n);
      rest >>= 7n;
      const last = (rest === 0n && byte < 64) || (rest === -1n && byte >= 64);
      this.push(last ? byte : byte + 128);
      if (last) return this;
    }
  }

  /** Appends the length of `bytes`, then `bytes`. */
  sized(bytes: Bytes): this {
    return this.unsigned(bytes.length).append(bytes.written);
  }
}
