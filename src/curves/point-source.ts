/** Points in main memory, as callers passed them: reading and writing them, and telling a wrong encoding. */
import type { Coordinate, PointEncoding } from '../api/values.js';
import { readElement, writeElement } from '../field/field.js';
import { digitsOf, invert, isBelow } from '../field/modulus.js';
import { squareRootIn } from '../field/powers.js';
import { type CurveContext, cubic, isOnCurve, type TwistedEdwards } from './curve.js';
import { imageOf, isOnEdwards } from './edwards.js';
import type { Affine } from './jacobian.js';

/** Returns a view of bytes as words. Every machine with WebGPU is little-endian. */
export const wordsOf = (bytes: Uint8Array<ArrayBuffer>): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);

/** Points in main memory. */
export interface PointSource {
  /** x‖y of each point, little-endian. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Factor of the coordinates modulo p: R for Montgomery form, 1 for plain coordinates. */
  readonly scale: bigint;
  /** The encoding in which the caller passed the points. */
  readonly encoding: PointEncoding;
  /**
   * How compressed points tell y from −y; the place of y then holds Y_EVEN or Y_ODD. Absent if
   * points have both coordinates.
   */
  readonly sign?: RootSign;
  /** Factor of Edwards coordinates; `scale` is 1 then. Absent for Weierstrass coordinates. */
  readonly edwards?: { readonly scale: bigint };
}

/** Writes a point as x‖y in little-endian words. Leaves the zeros of a new array for infinity. */
export const writePoint = (
  { coordinates: f, pointWords }: CurveContext,
  target: Uint32Array,
  index: number,
  point: Affine,
): void => {
  if (point === null) return;
  writeElement(f, target, index * pointWords, point.x);
  writeElement(f, target, index * pointWords + f.words, point.y);
};

/** How an encoding tells y from −y: by parity, or by size (of pairs by c1, unless it is 0). */
export type RootSign = 'odd' | 'larger';

/** In the place of an unknown y: the even or smaller root is meant. */
export const Y_EVEN = 1;
/** In the place of an unknown y: the odd or larger root is meant. */
export const Y_ODD = 2;

/**
 * Returns the y of a compressed point; null if no point has that x. The larger one of y and −y is
 * the one whose double is odd. y = 0 counts as smaller, as all software writes it. arkworks reads
 * it with either flag (`Affine::get_ys_from_x_unchecked`), which would give one point two
 * encodings.
 */
const rootFor = (curve: CurveContext, x: Coordinate, wanted: number, sign: RootSign): Coordinate | null => {
  const f = curve.coordinates;
  const root = squareRootIn(f, cubic(curve, x));
  if (root === null) return null;
  const told = f.coefficients(f.reduced(sign === 'odd' ? root : f.multiple(root, 2n)));
  const leading = [...told].reverse().find((value) => value !== 0n) ?? 0n;
  if (leading === 0n && wanted === Y_ODD) return null;
  return leading % 2n === BigInt(wanted === Y_ODD) ? f.reduced(root) : f.reduced(f.multiple(root, -1n));
};

/** Computed roots and images by source, for repeated small MSMs on the CPU. */
const computed = new WeakMap<PointSource, Map<number, Affine>>();

/** Returns a function that reads a point of a source by its index. */
export const readerOf = (curve: CurveContext, source: PointSource): ((index: number) => Affine) => {
  const { coordinates: f, p, pointWords } = curve;
  const { bytes, sign, edwards } = source;
  const { scale } = edwards ?? source;
  const points = wordsOf(bytes);
  const unit = scale === 1n ? 1n : invert(scale, p);
  const read = (at: number): Coordinate => {
    const value = readElement(f, points, at);
    return unit === 1n ? value : f.reduced(f.multiple(value, unit));
  };
  const plain = (index: number): Affine => {
    const [x, y] = [read(index * pointWords), read(index * pointWords + f.words)];
    if (f.isZero(x) && f.isZero(y)) return null;
    return edwards === undefined ? { x, y } : imageOf(curve, x, y);
  };
  if (sign === undefined && edwards === undefined) return plain;
  const known = computed.get(source) ?? new Map<number, Affine>();
  computed.set(source, known);
  const withRoot = (point: Affine, index: number): Affine => {
    if (point === null || sign === undefined) return point;
    const y = rootFor(curve, point.x, points[index * pointWords + f.words] as number, sign);
    return y === null ? null : { x: point.x, y };
  };
  return (index) => {
    const found = known.get(index);
    if (found !== undefined) return found;
    const whole = withRoot(plain(index), index);
    known.set(index, whole);
    return whole;
  };
};

/**
 * Returns a function that tells whether the numbers of a point are below p.
 *
 * @param words x‖y of the points, little-endian
 * @param tested words at the beginning of a point that are tested
 */
export const canonicalTest = (
  { p, pointWords, field }: CurveContext,
  words: Uint32Array,
  tested: number,
): ((index: number) => boolean) => {
  const wordsOfNumber = field.bytes / 4;
  const limit = digitsOf(p, 32, wordsOfNumber);
  return (index) => {
    const begin = index * pointWords;
    for (let at = begin; at < begin + tested; at += wordsOfNumber) if (!isBelow(words, at, limit)) return false;
    return true;
  };
};

/** Returns the number that bytes encode, in either byte order. */
const numberOf = (bytes: Uint8Array, bigEndian: boolean): bigint => {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt(`0x${(bigEndian ? digits : digits.reverse()).join('')}`);
};

/** Byte order of a number. */
type Order = 'little-endian' | 'big-endian';
/** A format in which bytes may be a point, as errors name it. */
export type PointFormat = `${Order} bytes` | `${Order} bytes in Montgomery form (R = 2^${number})`;

/** Returns whether the curve has a point with the x and the sign of these bytes. */
const isCompressed = (curve: CurveContext, given: Uint8Array, sign: RootSign): boolean => {
  const { coordinates: f, field } = curve;
  const numbers = Array.from({ length: f.degree }, (_, i) =>
    numberOf(given.subarray(i * field.bytes, (i + 1) * field.bytes), false),
  );
  return (
    numbers.every((number) => number < field.p) &&
    rootFor(curve, f.of(numbers), given[f.bytes] as number, sign) !== null
  );
};

/** Returns whether these bytes are a point of the curve in Edwards coordinates. */
const isOfEdwards = ({ edwards, field, p }: CurveContext, source: PointSource): boolean => {
  const [x, y] = [0, field.bytes].map((at) => numberOf(source.bytes.subarray(at, at + field.bytes), false)) as [
    bigint,
    bigint,
  ];
  const unit = invert(source.edwards?.scale ?? 1n, p);
  return x < p && y < p && isOnEdwards(edwards as TwistedEdwards, p, x * unit, y * unit);
};

/**
 * Returns the format in which the bytes of one point are a point of the curve; null if there is
 * none. Errors use it to suggest the right encoding. Montgomery form is tried with R = 2^256 for
 * coordinates of 32 bytes and R = 2^384 for 48, as other tools use it. If the caller named an
 * encoding, only that one is tried.
 */
export const formatOf = (curve: CurveContext, source: PointSource): PointFormat | null => {
  const { p, bytes } = curve.field;
  const { coordinates: f } = curve;
  if (source.edwards !== undefined) return isOfEdwards(curve, source) ? 'little-endian bytes' : null;
  if (source.sign !== undefined) return isCompressed(curve, source.bytes, source.sign) ? 'little-endian bytes' : null;
  const montgomery = 1n << BigInt(8 * bytes);
  const mayBeOther = source.encoding === 'le';
  for (const bigEndian of mayBeOther ? [false, true] : [false]) {
    const order: Order = bigEndian ? 'big-endian' : 'little-endian';
    const numbers = Array.from({ length: 2 * f.degree }, (_, i) =>
      numberOf(source.bytes.subarray(i * bytes, (i + 1) * bytes), bigEndian),
    );
    if (numbers.some((number) => number >= p)) continue;
    const [x, y] = [f.of(numbers.slice(0, f.degree)), f.of(numbers.slice(f.degree))];
    const isPointTimes = (scale: bigint): boolean => {
      const unit = invert(scale, p);
      return numbers.every((number) => number === 0n) || isOnCurve(curve, f.multiple(x, unit), f.multiple(y, unit));
    };
    if (isPointTimes(source.scale)) return `${order} bytes`;
    if (mayBeOther && isPointTimes(montgomery)) return `${order} bytes in Montgomery form (R = 2^${8 * bytes})`;
  }
  return null;
};
