/** Encodings with both coordinates and no flag bits. */
import type { CurveContext } from '../curves/curve.js';
import { type Bytes, type Format, reverseEach, scaleEach } from './format.js';

const plainSize = ({ pointBytes }: CurveContext): number => pointBytes;

/** Reads and writes numbers of `sizeOf(curve)` bytes each by reversing their bytes. */
const reversed = (sizeOf: (curve: CurveContext) => number): Pick<Format, 'read' | 'write'> => {
  const reverse = (curve: CurveContext, bytes: Bytes): Bytes => reverseEach(bytes, sizeOf(curve));
  return { read: reverse, write: reverse };
};

/** Big-endian numbers, c0 before c1. */
export const bigEndian: Format = { size: plainSize, ...reversed(({ field }) => field.bytes) };

/**
 * Encoding of Aztec's barretenberg: big-endian numbers, c0 before c1; infinity is all one bits.
 * Source: https://github.com/AztecProtocol/aztec-packages,
 * barretenberg/cpp/src/barretenberg/ecc/groups/affine_element.hpp
 */
export const aztec: Format = {
  size: plainSize,
  read: (curve, bytes, first) => {
    const { pointBytes } = curve;
    for (let at = 0, i = first; at < bytes.length; at += pointBytes, i++) {
      const point = bytes.subarray(at, at + pointBytes);
      if (point.every((byte) => byte === 0)) throw new RangeError(`points[${i}] is (0, 0), and infinity is all ones`);
      if (point.every((byte) => byte === 0xff)) point.fill(0);
    }
    return bigEndian.read(curve, bytes, first);
  },
  write: (curve, bytes) => (bytes.every((byte) => byte === 0) ? bytes.fill(0xff) : bigEndian.write(curve, bytes)),
};

/**
 * Big-endian coordinates: a pair is written as one number, so c1 comes before c0. EIP-196 defines
 * it for G1, and EIP-197 for G2: https://eips.ethereum.org/EIPS/eip-197
 */
export const eip196: Format = { size: plainSize, ...reversed(({ coordinates }) => coordinates.bytes) };

/**
 * Little-endian numbers times R, with R = 2^256 for numbers of 32 bytes and R = 2^384 for numbers
 * of 48.
 */
export const montgomery: Format = {
  size: plainSize,
  read: (_, bytes) => bytes,
  write: ({ field }, bytes) => scaleEach(bytes, field.bytes, 1n << BigInt(8 * field.bytes), field.p),
  scale: ({ field }) => (1n << BigInt(8 * field.bytes)) % field.p,
};

/**
 * EIP-2537, "Encoding of points in G1/G2": big-endian numbers of 64 bytes each, the first 16 of
 * which are 0; c0 before c1. https://eips.ethereum.org/EIPS/eip-2537
 */
export const eip2537: Format = {
  size: ({ coordinates }) => 128 * coordinates.degree,
  read: ({ field, coordinates }, bytes, first) => {
    const padding = 64 - field.bytes;
    const numbers = 2 * coordinates.degree;
    const points = new Uint8Array((bytes.length / 64) * field.bytes);
    for (let i = 0; i < bytes.length / 64; i++) {
      const number = bytes.subarray(64 * i, 64 * (i + 1));
      if (number.subarray(0, padding).some((byte) => byte !== 0)) {
        throw new RangeError(
          `points[${first + Math.floor(i / numbers)}]: the ${padding} bytes in front of a coordinate must be 0`,
        );
      }
      points.set(number.subarray(padding), i * field.bytes);
    }
    return reverseEach(points, field.bytes);
  },
  write: ({ field }, bytes) => {
    const written = new Uint8Array((bytes.length / field.bytes) * 64);
    for (let at = 0, to = 0; at < bytes.length; at += field.bytes, to += 64) {
      written.set(bytes.subarray(at, at + field.bytes), to);
    }
    return reverseEach(written, 64);
  },
};
