/** Encodings with flag bits in the topmost bits of a coordinate, compressed or not. */
import type { CurveContext } from '../curves/curve.js';
import type { RootSign } from '../curves/point-source.js';
import { type Bytes, type Format, reverseEach } from './format.js';

/**
 * Meaning of the flags of a point: infinity, a finite point, or a finite point and which one of y
 * and −y it has. `larger` stands for the odd y where the encoding tells y from −y by parity.
 */
type Meaning = 'infinity' | 'finite' | 'smaller' | 'larger';

/** The flags of a family of encodings. */
export interface Flags {
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
