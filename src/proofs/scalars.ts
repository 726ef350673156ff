/** Scalars in bytes. */

/** Bytes of a scalar. */
export const SCALAR_BYTES = 32;

/** Returns a number below 2^256 as little-endian bytes. */
export const bytesOf = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(SCALAR_BYTES);
  const words = new DataView(bytes.buffer);
  let rest = value;
  for (let at = 0; at < SCALAR_BYTES; at += 8, rest >>= 64n) words.setBigUint64(at, rest, true);
  return bytes;
};

/** Returns the number that little-endian bytes are. @param bytes a multiple of 8 */
export const numberOf = (bytes: Uint8Array): bigint => {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let value = 0n;
  for (let at = bytes.length - 8; at >= 0; at -= 8) value = (value << 64n) | words.getBigUint64(at, true);
  return value;
};

/** Returns the numbers in consecutive little-endian bytes. */
export const numbersIn = (bytes: Uint8Array): bigint[] =>
  Array.from({ length: bytes.length / SCALAR_BYTES }, (_, i) =>
    numberOf(bytes.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)),
  );
