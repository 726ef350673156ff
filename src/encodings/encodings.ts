/**
 * Points and scalars in the encodings of others, brought into little-endian bytes: for those who ask for one, in a module that is loaded then. It takes
 * nothing but types from the others; what it refuses is a RangeError, which the engine makes a `bad-argument`.
 */
import type { PointEncoding, ScalarEncoding } from '../api.js';
import type { CurveContext } from '../curves/curve.js';
import type { PointSource } from '../curves/point-source.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes as they come to their own points; `points` is what an error calls them. */
interface Format {
  /** Of a point, in bytes. */
  size(curve: CurveContext): number;
  /** Points in little-endian bytes: these, or others. */
  read(curve: CurveContext, bytes: Bytes): Bytes;
  /** The other way round, for one point. */
  write(curve: CurveContext, bytes: Bytes): Bytes;
  /** What coordinates are multiplied by. */
  scale?(curve: CurveContext): bigint;
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

const COMPRESSED = 0x80;
const INFINITE = 0x40;
const LARGER = 0x20;

/**
 * Uncompressed points of Zcash: big-endian, c1 before c0, with three flags in the topmost bits. Source: the zkcrypto crate `bls12_381`, "Serialization",
 * https://docs.rs/bls12_381/latest/bls12_381/notes/serialization/
 */
const zcash: Format = {
  size: plainSize,
  read: (curve, bytes) => {
    const { pointBytes } = curve;
    for (let at = 0, i = 0; at < bytes.length; at += pointBytes, i++) {
      const top = bytes[at] as number;
      if (top & COMPRESSED) throw new RangeError(`points[${i}] says that it is compressed, which is another encoding`);
      if (top & LARGER) throw new RangeError(`points[${i}]: only a compressed point says which of two it is`);
      bytes[at] = top & ~INFINITE;
      const isZero = bytes.subarray(at, at + pointBytes).every((byte) => byte === 0);
      if (isZero !== ((top & INFINITE) !== 0)) {
        throw new RangeError(`points[${i}]: zeros and the flag of infinity come together, and one of them is alone`);
      }
    }
    return bigEndianWhole.read(curve, bytes);
  },
  write: (curve, bytes) => {
    const isInfinity = bytes.every((byte) => byte === 0);
    const written = bigEndianWhole.write(curve, bytes);
    if (isInfinity) written[0] = INFINITE;
    return written;
  },
};

/** Of every curve. */
const common = { be: bigEndian, 'le-montgomery': montgomery } as const;
/** Of those curves that name them. */
const special = { eip196: bigEndianWhole, eip2537, zcash } as const;

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
  const { write } = formatOf(curve, encoding, 'result');
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
  return { bytes: format.read(curve, bytes), scale: format.scale?.(curve) ?? 1n, encoding };
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
