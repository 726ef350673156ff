/** Scalars in bytes. */

/** Bytes of a scalar. */
export const SCALAR_BYTES = 32;

/** Returns a number as little-endian bytes. */
export const bytesOf = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: SCALAR_BYTES }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

/** Returns the number that little-endian bytes are. */
export const numberOf = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);

/** Returns the numbers in consecutive little-endian bytes. */
export const numbersIn = (bytes: Uint8Array): bigint[] =>
  Array.from({ length: bytes.length / SCALAR_BYTES }, (_, i) =>
    numberOf(bytes.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)),
  );
