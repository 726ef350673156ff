/**
 * Encodings of points: conversions between the bytes of other software and x‖y in little-endian
 * bytes.
 */
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

/* Encodings with both coordinates and no flag bits. */

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

/* Encodings with flag bits in the topmost bits of a coordinate, compressed or not. */

/**
 * Meaning of the flags of a point: infinity, a finite point, or a finite point and which one of y
 * and −y it has. `larger` stands for the odd y where the encoding tells y from −y by parity.
 */
type Meaning = 'infinity' | 'finite' | 'smaller' | 'larger';

/** The flags of a family of encodings. */
interface Flags {
  /** The flag bits of their byte. */
  readonly mask: number;
  /** Meanings in points with both coordinates, by the value of the flag bits. */
  readonly whole: Readonly<Partial<Record<number, Meaning>>>;
  /** Meanings in compressed points, by the value of the flag bits. */
  readonly compressed: Readonly<Partial<Record<number, Meaning>>>;
  /**
   * True: numbers are little-endian, and the flags are in the last byte. False: big-endian, in the
   * first byte.
   */
  readonly littleEndian: boolean;
}

/**
 * Flags of Zcash's BLS12-381: big-endian, c1 before c0. Source: the zkcrypto crate `bls12_381`,
 * "Serialization", https://docs.rs/bls12_381/latest/bls12_381/notes/serialization/. arkworks uses
 * them for that curve too, and gnark for primes that leave three bits:
 * https://pkg.go.dev/github.com/consensys/gnark-crypto/ecc/bls12-377#G1Affine.Bytes
 */
export const threeFlags: Flags = {
  mask: 0xe0,
  whole: { 0: 'finite', 64: 'infinity' },
  compressed: { 128: 'smaller', 160: 'larger', 192: 'infinity' },
  littleEndian: false,
};

/**
 * gnark's flags for primes that leave two bits:
 * https://pkg.go.dev/github.com/consensys/gnark-crypto/ecc/bn254#G1Affine.Bytes
 */
const twoFlags: Flags = {
  mask: 0xc0,
  whole: { 0: 'finite' },
  compressed: { 128: 'smaller', 192: 'larger', 64: 'infinity' },
  littleEndian: false,
};

/**
 * arkworks' flags, which give the sign of y of uncompressed points too:
 * https://docs.rs/ark-ec/latest/ark_ec/models/short_weierstrass/enum.SWFlags.html
 */
const arkFlags: Flags = {
  mask: 0xc0,
  whole: { 0: 'smaller', 128: 'larger', 64: 'infinity' },
  compressed: { 0: 'smaller', 128: 'larger', 64: 'infinity' },
  littleEndian: true,
};

/** Aztec's flag: the parity of y. */
export const aztecFlag: Flags = {
  mask: 0x80,
  whole: {},
  compressed: { 0: 'smaller', 128: 'larger' },
  littleEndian: false,
};

export const gnarkFlags = ({ field }: CurveContext): Flags =>
  8 * field.bytes - field.bits < 3 ? twoFlags : threeFlags;
export const arkworksFlags = ({ encodings }: CurveContext): Flags =>
  encodings.includes('zcash') ? threeFlags : arkFlags;

/** Returns whether 2·y > p for y in little-endian bytes. Of a pair c1 decides, unless it is 0. */
const isLarger = ({ field, coordinates }: CurveContext, y: Bytes): boolean => {
  const half = field.p >> 1n;
  for (let i = coordinates.degree - 1; i >= 0; i--) {
    const number = y.subarray(i * field.bytes, (i + 1) * field.bytes);
    if (i > 0 && number.every((byte) => byte === 0)) continue;
    // most numbers differ from p/2 in the first byte, so one BigInt shift is enough
    for (let at = field.bytes - 1; at >= 0; at--) {
      const other = Number((half >> BigInt(8 * at)) & 0xffn);
      if (number[at] !== other) return (number[at] as number) > other;
    }
  }
  return false;
};

/**
 * Returns the number of bytes that the flags take beside a coordinate: 1 where the prime leaves too
 * few bits free.
 */
const flagBytes = ({ field }: CurveContext, { mask }: Flags): number =>
  8 * field.bytes - field.bits >= Math.log2(256 / (256 - mask)) ? 0 : 1;

/** The error for flags without a meaning in this encoding. */
const unknownFlags = (i: number, { whole, compressed }: Flags, flags: number, isWhole: boolean): RangeError => {
  const isOther = flags in (isWhole ? compressed : whole);
  const kind = isWhole ? 'compressed' : 'not compressed';
  return new RangeError(`points[${i}] ${isOther ? `is ${kind}, which is another encoding` : 'has invalid flags'}`);
};

/** The layout of the encoded points of one curve. */
interface Layout {
  readonly flags: Flags;
  readonly meanings: Readonly<Partial<Record<number, Meaning>>>;
  /** True for points with both coordinates, false for x alone. */
  readonly isWhole: boolean;
  /** Rule by which flags tell y from −y. */
  readonly sign: RootSign;
  /** Bytes of the coordinates. */
  readonly length: number;
  /** Bytes of a point: a byte more where the flags have their own. */
  readonly size: number;
  /** Index of the byte with the flags. */
  readonly flagsAt: number;
  /** True if infinity has a flag of its own. */
  readonly marksInfinity: boolean;
}

const layoutOf = (curve: CurveContext, flags: Flags, sign: RootSign, isWhole: boolean): Layout => {
  const meanings = isWhole ? flags.whole : flags.compressed;
  const length = (isWhole ? 2 : 1) * curve.coordinates.bytes;
  const size = length + flagBytes(curve, flags);
  const flagsAt = flags.littleEndian ? size - 1 : 0;
  const marksInfinity = Object.values(meanings).includes('infinity');
  return { flags, meanings, isWhole, sign, length, size, flagsAt, marksInfinity };
};

/** Returns which of y and −y a point has. */
const signOf = (curve: CurveContext, sign: RootSign, y: Bytes): Meaning =>
  (sign === 'odd' ? (y[0] as number) % 2 === 1 : isLarger(curve, y)) ? 'larger' : 'smaller';

/**
 * Reads a point from its bytes, and clears their flags.
 *
 * @param point receives the point in the public format
 * @param i index of the point, for errors
 */
const readPoint = (curve: CurveContext, layout: Layout, given: Bytes, point: Bytes, i: number): void => {
  const { flags, meanings, isWhole, sign, length, flagsAt, marksInfinity } = layout;
  const { coordinates } = curve;
  const value = (given[flagsAt] as number) & flags.mask;
  const meaning = meanings[value];
  if (meaning === undefined) throw unknownFlags(i, flags, value, isWhole);
  given[flagsAt] = (given[flagsAt] as number) & ~flags.mask;
  if (given.length > length && given[flagsAt] !== 0) {
    throw new RangeError(`points[${i}]: a coordinate is too large`);
  }
  point.set(given.subarray(0, length));
  if (!flags.littleEndian) reverseEach(point.subarray(0, length), coordinates.bytes);
  if (meaning === 'infinity' || (isWhole && marksInfinity)) {
    const isZero = point.every((byte) => byte === 0);
    if (isZero !== (meaning === 'infinity')) {
      throw new RangeError(`points[${i}]: the flag of infinity requires zero coordinates, and these the flag`);
    }
  }
  if (meaning === 'infinity' || meaning === 'finite') return;
  const y = point.subarray(coordinates.bytes);
  if (!isWhole) y[0] = meaning === 'larger' ? 2 : 1;
  else if (signOf(curve, sign, y) !== meaning)
    throw new RangeError(`points[${i}]: the sign of y differs from its flag`);
};

/** Returns the encoding of a point that is in the public format. */
const writePoint = (curve: CurveContext, layout: Layout, point: Bytes): Bytes => {
  const { flags, meanings, sign, length, size, flagsAt } = layout;
  const { coordinates } = curve;
  const isZero = point.every((byte) => byte === 0);
  const meaning = isZero ? 'infinity' : signOf(curve, sign, point.subarray(coordinates.bytes));
  const all = Object.entries(meanings);
  const [value] = all.find(([, each]) => each === meaning) ?? all.find(([, each]) => each === 'finite') ?? [0];
  const written = new Uint8Array(size);
  written.set(point.subarray(0, length));
  if (!flags.littleEndian) reverseEach(written.subarray(0, length), coordinates.bytes);
  written[flagsAt] = (written[flagsAt] as number) | Number(value);
  return written;
};

/** Returns an encoding with flags, of points with both coordinates (`isWhole`) or of x alone. */
export const flagged = (flagsOf: (curve: CurveContext) => Flags, sign: RootSign, isWhole: boolean): Format => {
  const ownLayout = (curve: CurveContext): Layout => layoutOf(curve, flagsOf(curve), sign, isWhole);
  return {
    size: (curve) => ownLayout(curve).size,
    read: (curve, bytes, first) => {
      const { pointBytes } = curve;
      const layout = ownLayout(curve);
      const { size } = layout;
      const points = new Uint8Array((bytes.length / size) * pointBytes);
      for (let i = 0; i < bytes.length / size; i++) {
        const point = points.subarray(i * pointBytes, (i + 1) * pointBytes);
        readPoint(curve, layout, bytes.subarray(i * size, (i + 1) * size), point, first + i);
      }
      return points;
    },
    write: (curve, bytes) => writePoint(curve, ownLayout(curve), bytes),
    ...(isWhole ? {} : { sign }),
  };
};
