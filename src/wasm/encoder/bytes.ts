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

  byte(value: number): this {
    if (this.#length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.#length++] = value;
    return this;
  }

  append(bytes: ArrayLike<number>): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** Appends an unsigned number in LEB128. */
  unsigned(value: number): this {
    let rest = value;
    while (rest > 127) {
      this.byte((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    return this.byte(rest);
  }

  /** Appends a signed number of 32 bits in LEB128. */
  signed32(value: number): this {
    let rest = value | 0;
    while (rest < -64 || rest > 63) {
      this.byte((rest & 127) + 128);
      rest >>= 7;
    }
    return this.byte(rest & 127);
  }

  /** Appends a signed number in LEB128. */
  signed(value: bigint): this {
    for (let rest = value; ; ) {
      const byte = Number(rest & 127n);
      rest >>= 7n;
      const last = (rest === 0n && byte < 64) || (rest === -1n && byte >= 64);
      this.byte(last ? byte : byte + 128);
      if (last) return this;
    }
  }

  /** Appends the length of `bytes`, then `bytes`. */
  sized(bytes: Bytes): this {
    return this.unsigned(bytes.length).append(bytes.written);
  }
}
