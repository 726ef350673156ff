/** Writes consecutive little-endian numbers, and the files of snarkjs made of them. */
export class Bytes {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  #room(more: number): number {
    const at = this.#length;
    this.#length += more;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#length);
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }

  u32(value: number): this {
    const at = this.#room(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  u64(value: number): this {
    const at = this.#room(8);
    this.#view.setBigUint64(at, BigInt(value), true);
    return this;
  }

  /** @param bytes number of bytes, a multiple of 8 */
  number(value: bigint, bytes: number): this {
    const at = this.#room(bytes);
    for (let i = 0; i < bytes; i += 8) {
      this.#view.setBigUint64(at + i, BigInt.asUintN(64, value >> BigInt(8 * i)), true);
    }
    return this;
  }

  raw(bytes: Uint8Array): this {
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  done(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}

/** Makes a snarkjs file: its kind, version, and sections with number and length. */
export const fileOf = (
  kind: 'r1cs' | 'wtns' | 'zkey' | 'ptau',
  version: number,
  sections: readonly (readonly [type: number, content: Uint8Array])[],
): Uint8Array => {
  const file = new Bytes().raw(new TextEncoder().encode(kind)).u32(version).u32(sections.length);
  for (const [type, content] of sections) file.u32(type).u64(content.length).raw(content);
  return file.done();
};
