import type { CurveContext } from '../curves/curve.js';
import type { RootSign } from '../curves/point-source.js';

export type Bytes = Uint8Array<ArrayBuffer>;

/** An encoding of points: conversions to and from x‖y in little-endian bytes. */
export interface Format {
  /** Returns the size of an encoded point, in bytes. */
  size(curve: CurveContext): number;
  /**
   * Converts encoded points to x‖y in little-endian bytes. May write over `bytes` and return them.
   *
   * @param first index of the first of these points, for errors
   * @throws RangeError naming the point, as `points[i]`
   */
  read(curve: CurveContext, bytes: Bytes, first: number): Bytes;
  /** Converts one point from x‖y in little-endian bytes. May write over `bytes` and return them. */
  write(curve: CurveContext, bytes: Bytes): Bytes;
  /** True if the encoding cannot represent infinity. */
  readonly lacksInfinity?: true;
  /** Returns the factor of all coordinates, modulo p. Absent: 1. */
  scale?(curve: CurveContext): bigint;
  /**
   * Tells y from −y in compressed points. `read` then leaves Y_EVEN in the place of y for the even
   * or smaller one of the two, and Y_ODD for the other one.
   */
  readonly sign?: RootSign;
}

/** Reverses the bytes of each block of `size` bytes, in place. */
export const reverseEach = (bytes: Bytes, size: number): Bytes => {
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
  return bytes;
};

/**
 * Multiplies each little-endian number of `size` bytes, a multiple of 8, modulo `modulus`, in
 * place.
 */
export const scaleEach = (bytes: Bytes, size: number, factor: bigint, modulus: bigint): Bytes => {
  const words = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  const each = size / 8;
  for (let at = 0; at < words.length; at += each) {
    let value = 0n;
    for (let i = each - 1; i >= 0; i--) value = (value << 64n) | (words[at + i] as bigint);
    value = (value * factor) % modulus;
    for (let i = 0; i < each; i++) {
      words[at + i] = BigInt.asUintN(64, value);
      value >>= 64n;
    }
  }
  return bytes;
};
