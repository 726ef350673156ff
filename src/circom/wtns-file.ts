/**
 * Writes `.wtns` files: the container of iden3's files with two sections, the header (u32 bytes of a
 * value, the prime, u32 count) and the values. Source: https://github.com/iden3/wtnsfile.
 */
import { badArgument } from '../errors.js';

/** Version of the format that snarkjs writes. */
const VERSION = 2;

/** A file whose values are still zero. */
export interface WtnsFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The part with the values: words of 32 bits, least significant first. */
  readonly values: Uint32Array<ArrayBuffer>;
}

/**
 * Makes a file with its header.
 *
 * @param words of 32 bits of a value
 * @throws MsmError `bad-argument` if the file is larger than an array may be
 */
export const createWtns = (prime: bigint, words: number, count: number): WtnsFile => {
  const valueBytes = 4 * words;
  const header = 8 + valueBytes;
  // 4 letters, version and sections, two heads of sections of 12 bytes, the header
  const start = 12 + 12 + header + 12;
  const byteLength = start + count * valueBytes;
  let file: Uint32Array<ArrayBuffer>;
  try {
    file = new Uint32Array(byteLength / 4);
  } catch {
    throw badArgument(`wasm: a witness of ${count} values is more than JavaScript can hold in one array`);
  }
  const bytes = new Uint8Array(file.buffer);
  const view = new DataView(file.buffer);
  let at = 0;
  const u32 = (value: number): void => {
    view.setUint32(at, value, true);
    at += 4;
  };
  const section = (id: number, length: number): void => {
    u32(id);
    u32(length % 2 ** 32);
    u32(Math.floor(length / 2 ** 32));
  };
  bytes.set(new TextEncoder().encode('wtns'));
  at = 4;
  u32(VERSION);
  u32(2);
  section(1, header);
  u32(valueBytes);
  for (let i = 0, rest = prime; i < words; i++, rest >>= 32n) u32(Number(rest & 0xffffffffn));
  u32(count);
  section(2, count * valueBytes);
  return { bytes, values: file.subarray(start / 4) };
};
