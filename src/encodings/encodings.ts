/**
 * Points and scalars in the encodings of others, brought into little-endian bytes: for those who ask for one, in a module that is loaded then. It takes
 * nothing but types from the others; what it refuses is a RangeError, which the engine makes a `bad-argument`.
 */
import type { PointEncoding, ScalarEncoding, SpecialEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { PointSource, RootSign } from '../curves/point-source.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes as they come to their own points; `points` is what an error calls them. */
interface Format {
  /** Of a point, in bytes. */
  size(curve: CurveContext): number;
  /** Points in little-endian bytes: these, or others. */
  read(curve: CurveContext, bytes: Bytes): Bytes;
  /** The other way round, for one point. */
  write(curve: CurveContext, bytes: Bytes): Bytes;
  /** Infinity cannot be written. */
  readonly lacksInfinity?: true;
  /** What coordinates are multiplied by. */
  scale?(curve: CurveContext): bigint;
  /** By what y is told from −y where it is not written: then points have 1 in its place where it is the one that is even, or smaller, 2 otherwise. */
  readonly sign?: RootSign;
}

const plainSize = ({ pointBytes }: CurveContext): number => pointBytes;

/** Turns round every `size` bytes, where they are. */
const reverseEach = (bytes: Bytes, size: number): Bytes => {
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
  return bytes;
};

/** Numbers of so many bytes, turned round; and turned back likewise. */
const turned = (sizeOf: (curve: CurveContext) => number): Pick<Format, 'read' | 'write'> => {
  const turn = (curve: CurveContext, bytes: Bytes): Bytes => reverseEach(bytes, sizeOf(curve));
  return { read: turn, write: turn };
};

const bigEndian: Format = { size: plainSize, ...turned(({ field }) => field.bytes) };

/**
 * Aztec's barretenberg: big-endian, c0 before c1, infinity as nothing but ones. https://github.com/AztecProtocol/aztec-packages, barretenberg/cpp/src/barretenberg/ecc/groups/affine_element.hpp
 */
const aztec: Format = {
  size: plainSize,
  read: (curve, bytes) => {
    const { pointBytes } = curve;
    for (let at = 0, i = 0; at < bytes.length; at += pointBytes, i++) {
      const point = bytes.subarray(at, at + pointBytes);
      if (point.every((byte) => byte === 0)) throw new RangeError(`points[${i}] is (0, 0), and infinity is all ones`);
      if (point.every((byte) => byte === 0xff)) point.fill(0);
    }
    return bigEndian.read(curve, bytes);
  },
  write: (curve, bytes) => (bytes.every((byte) => byte === 0) ? bytes.fill(0xff) : bigEndian.write(curve, bytes)),
};

/**
 * Each coordinate as if it were one big-endian number: of a pair, c1 comes before c0. So has EIP-197 the points of G2, and EIP-196 those of G1.
 * https://eips.ethereum.org/EIPS/eip-197
 */
const bigEndianWhole: Format = { size: plainSize, ...turned(({ coordinates }) => coordinates.bytes) };

/** Multiplies every little-endian number of `size` bytes, whole words of 64 bits, modulo `modulus`, where they are. */
const scaleEach = (bytes: Bytes, size: number, factor: bigint, modulus: bigint): Bytes => {
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

/** R = 2^256 for numbers of 32 bytes, 2^384 for 48: as many bits as they have. */
const montgomery: Format = {
  size: plainSize,
  read: (_, bytes) => bytes,
  write: ({ field }, bytes) => scaleEach(bytes, field.bytes, 1n << BigInt(8 * field.bytes), field.p),
  scale: ({ field }) => (1n << BigInt(8 * field.bytes)) % field.p,
};

/**
 * EIP-2537, "Encoding of points in G1/G2": numbers in 64 big-endian bytes each, of which the first 16 are 0; c0 before c1.
 * https://eips.ethereum.org/EIPS/eip-2537
 */
const eip2537: Format = {
  size: ({ coordinates }) => 128 * coordinates.degree,
  read: ({ field, coordinates }, bytes) => {
    const padding = 64 - field.bytes;
    const numbers = 2 * coordinates.degree;
    const points = new Uint8Array((bytes.length / 64) * field.bytes);
    for (let i = 0; i < bytes.length / 64; i++) {
      const number = bytes.subarray(64 * i, 64 * (i + 1));
      if (number.subarray(0, padding).some((byte) => byte !== 0)) {
        throw new RangeError(
          `points[${Math.floor(i / numbers)}]: the ${padding} bytes in front of a coordinate must be 0`,
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

/** What flags say of a point: that it is infinity, or which of the two with its x it is; 'larger' is 'odd' where that is what tells. */
type Which = 'infinity' | 'smaller' | 'larger';

/** Flags in the topmost bits of a number. */
interface Flags {
  readonly mask: number;
  readonly whole: Readonly<Partial<Record<number, 'infinity' | 'finite' | Which>>>;
  readonly compressed: Readonly<Partial<Record<number, Which>>>;
  /** In the last byte of numbers that are little-endian, else in the first. */
  readonly littleEndian: boolean;
}

/**
 * Of Zcash's BLS12-381: big-endian, c1 before c0. Source: the zkcrypto crate `bls12_381`, "Serialization",
 * https://docs.rs/bls12_381/latest/bls12_381/notes/serialization/. arkworks has them for that curve as well, and gnark where a prime leaves three bits:
 * https://pkg.go.dev/github.com/consensys/gnark-crypto/ecc/bls12-377#G1Affine.Bytes
 */
const threeFlags: Flags = {
  mask: 0xe0,
  whole: { 0: 'finite', 64: 'infinity' },
  compressed: { 128: 'smaller', 160: 'larger', 192: 'infinity' },
  littleEndian: false,
};

/** gnark's where a prime leaves two bits: https://pkg.go.dev/github.com/consensys/gnark-crypto/ecc/bn254#G1Affine.Bytes */
const twoFlags: Flags = {
  mask: 0xc0,
  whole: { 0: 'finite' },
  compressed: { 128: 'smaller', 192: 'larger', 64: 'infinity' },
  littleEndian: false,
};

/** arkworks: https://docs.rs/ark-ec/latest/ark_ec/models/short_weierstrass/enum.SWFlags.html; the sign of y comes with the whole point, too. */
const arkFlags: Flags = {
  mask: 0xc0,
  whole: { 0: 'smaller', 128: 'larger', 64: 'infinity' },
  compressed: { 0: 'smaller', 128: 'larger', 64: 'infinity' },
  littleEndian: true,
};

/** Of Aztec's: whether y is odd. */
const aztecFlag: Flags = { mask: 0x80, whole: {}, compressed: { 0: 'smaller', 128: 'larger' }, littleEndian: false };

/** Of little-endian bytes, whether 2·y > p; of a pair by c1, unless it is 0. */
const isLarger = ({ field, coordinates }: CurveContext, y: Bytes): boolean => {
  const half = field.p >> 1n;
  for (let i = coordinates.degree - 1; i >= 0; i--) {
    const number = y.subarray(i * field.bytes, (i + 1) * field.bytes);
    if (i > 0 && number.every((byte) => byte === 0)) continue;
    // most differ in the first byte
    for (let at = field.bytes - 1; at >= 0; at--) {
      const other = Number((half >> BigInt(8 * at)) & 0xffn);
      if (number[at] !== other) return (number[at] as number) > other;
    }
  }
  return false;
};

/** Flags have a byte of their own where a prime leaves no room for two bits beside it. */
const room = ({ field }: CurveContext, { mask }: Flags): number =>
  8 * field.bytes - field.bits >= Math.log2(256 / (256 - mask)) ? 0 : 1;

/** Points of `coordinates` coordinates, one or two, of which one has flags. */
const flagged = (flagsOf: (curve: CurveContext) => Flags, sign: RootSign, isWhole: boolean): Format => {
  const size = (curve: CurveContext): number =>
    (isWhole ? 2 : 1) * curve.coordinates.bytes + room(curve, flagsOf(curve));
  const meaning = (curve: CurveContext) => (isWhole ? flagsOf(curve).whole : flagsOf(curve).compressed);
  const signOf = (curve: CurveContext, y: Bytes): Which =>
    (sign === 'odd' ? (y[0] as number) % 2 === 1 : isLarger(curve, y)) ? 'larger' : 'smaller';
  return {
    size,
    read: (curve, bytes) => {
      const { mask, littleEndian } = flagsOf(curve);
      const { pointBytes, coordinates } = curve;
      const each = size(curve);
      const length = isWhole ? pointBytes : coordinates.bytes;
      const told = meaning(curve);
      const isMarked = Object.values(told).includes('infinity');
      const points = new Uint8Array((bytes.length / each) * pointBytes);
      for (let i = 0; i < bytes.length / each; i++) {
        const given = bytes.subarray(i * each, (i + 1) * each);
        const at = littleEndian ? each - 1 : 0;
        const flags = (given[at] as number) & mask;
        const which = told[flags];
        if (which === undefined) {
          const { whole, compressed } = flagsOf(curve);
          const isOther = flags in (isWhole ? compressed : whole);
          const says = isWhole ? 'it is compressed, which is' : 'it is not compressed, which is';
          throw new RangeError(
            `points[${i}] ${isOther ? `says that ${says} another encoding` : 'has flags that mean nothing'}`,
          );
        }
        given[at] = (given[at] as number) & ~mask;
        if (each > length && given[at] !== 0) throw new RangeError(`points[${i}]: a coordinate is too large`);
        const point = points.subarray(i * pointBytes, (i + 1) * pointBytes);
        point.set(given.subarray(0, length));
        if (!littleEndian) reverseEach(point.subarray(0, length), coordinates.bytes);
        if (which === 'infinity' || (isWhole && isMarked)) {
          const isZero = point.every((byte) => byte === 0);
          if (isZero !== (which === 'infinity')) {
            throw new RangeError(
              `points[${i}]: zeros and the flag of infinity come together, and one of them is alone`,
            );
          }
        }
        if (which === 'infinity' || which === 'finite') continue;
        const y = point.subarray(coordinates.bytes);
        if (!isWhole) y[0] = which === 'larger' ? 2 : 1;
        else if (signOf(curve, y) !== which) throw new RangeError(`points[${i}]: y has the other sign than its flag`);
      }
      return points;
    },
    write: (curve, bytes) => {
      const { littleEndian } = flagsOf(curve);
      const { coordinates } = curve;
      const which = bytes.every((byte) => byte === 0) ? 'infinity' : signOf(curve, bytes.subarray(coordinates.bytes));
      const all = Object.entries(meaning(curve));
      const [flags] = all.find(([, each]) => each === which) ?? all.find(([, each]) => each === 'finite') ?? [0];
      const written = new Uint8Array(size(curve));
      const length = isWhole ? bytes.length : coordinates.bytes;
      written.set(bytes.subarray(0, length));
      if (!littleEndian) reverseEach(written.subarray(0, length), coordinates.bytes);
      const at = littleEndian ? written.length - 1 : 0;
      written[at] = (written[at] as number) | Number(flags);
      return written;
    },
    ...(isWhole ? {} : { sign }),
  };
};

const gnarkFlags = ({ field }: CurveContext): Flags => (8 * field.bytes - field.bits < 3 ? twoFlags : threeFlags);
const arkworksFlags = ({ encodings }: CurveContext): Flags => (encodings.includes('zcash') ? threeFlags : arkFlags);

/** Of every curve. */
const common = { be: bigEndian, 'le-montgomery': montgomery } as const;
/** Of those curves that name them. */
const special: Readonly<Record<SpecialEncoding, Format>> = {
  eip196: bigEndianWhole,
  eip2537,
  zcash: flagged(() => threeFlags, 'larger', true),
  'zcash-compressed': flagged(() => threeFlags, 'larger', false),
  ark: flagged(arkworksFlags, 'larger', true),
  'ark-compressed': flagged(arkworksFlags, 'larger', false),
  gnark: flagged(gnarkFlags, 'larger', true),
  'gnark-compressed': flagged(gnarkFlags, 'larger', false),
  aztec,
  'aztec-compressed': { ...flagged(() => aztecFlag, 'odd', false), lacksInfinity: true },
};

const formatsOf = ({ encodings = [] }: CurveContext): Readonly<Record<string, Format>> => ({
  ...common,
  ...Object.fromEntries(encodings.map((name) => [name, special[name]])),
});

const formatOf = (curve: CurveContext, encoding: string, option: string): Format => {
  const formats = formatsOf(curve);
  if (Object.hasOwn(formats, encoding)) return formats[encoding] as Format;
  const all = ['le', ...Object.keys(formats)].join(', ');
  throw new RangeError(`options.${option}: '${encoding}' is none of ${curve.name}'s: ${all}`);
};

/**
 * What makes another encoding of a point in little-endian bytes, which it writes over.
 *
 * @throws RangeError naming the encoding
 */
export const writerOf = (curve: CurveContext, encoding: PointEncoding): ((bytes: Bytes) => Bytes) => {
  const { write, lacksInfinity } = formatOf(curve, encoding, 'result');
  if (lacksInfinity) throw new RangeError(`options.result: '${encoding}' cannot say infinity, which a sum may be`);
  return (bytes) => write(curve, bytes);
};

/**
 * @param bytes the engine's own copy; written over
 * @throws RangeError naming the encoding or the point
 */
export const readPoints = (curve: CurveContext, bytes: Bytes, encoding: PointEncoding): PointSource => {
  const format = formatOf(curve, encoding, 'encoding');
  const size = format.size(curve);
  if (bytes.length % size !== 0) {
    throw new RangeError(
      `points: ${bytes.length} bytes are not a whole number of points of ${size} bytes in ${encoding}`,
    );
  }
  const { sign } = format;
  const scale = format.scale?.(curve) ?? 1n;
  return { bytes: format.read(curve, bytes), scale, encoding, ...(sign === undefined ? {} : { sign }) };
};

/** The inverse of 2^bits modulo an odd number. */
const inverseOfPower = (bits: number, modulus: bigint): bigint => {
  let inverse = 1n;
  for (let i = 0; i < bits; i++) inverse = (inverse & 1n ? inverse + modulus : inverse) >> 1n;
  return inverse;
};

/**
 * @param bytes the engine's own copy, of whole scalars; written over
 * @throws RangeError naming the encoding
 */
export const readScalars = ({ order, scalarBytes }: CurveContext, bytes: Bytes, encoding: ScalarEncoding): Bytes => {
  if (encoding === 'be') return reverseEach(bytes, scalarBytes);
  if (encoding !== 'le-montgomery') {
    throw new RangeError(`options.scalarEncoding: '${encoding}' is unknown; there are le, be, le-montgomery`);
  }
  if (order % 2n === 0n) throw new RangeError('options.scalarEncoding: an even order has no Montgomery form');
  return scaleEach(bytes, scalarBytes, inverseOfPower(8 * scalarBytes, order), order);
};
