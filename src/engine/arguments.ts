import type { AffinePoint, BytesLike, Coordinate, PointEncoding } from '../api/values.js';
import { type CurveContext, numbersOf } from '../curves/curve.js';
import { hasPrimeOrder } from '../curves/prime-order.js';
import { badArgument, kindOf, show } from '../errors.js';
import { writeNumber } from '../field/write-number.js';
import { copyBytes, givenBytes, roomFor } from './bytes.js';
import type { SpareBytes } from './spare-bytes.js';

/** Copies an array by index, with holes. An array of a caller's class may have another iterator. */
export const itemsOf = <Item>(given: readonly Item[]): Item[] =>
  Array.from({ length: given.length }, (_, i) => given[i] as Item);

/**
 * Checks that membership of the group can be tested.
 *
 * @throws MsmError `bad-argument` if points are to be tested and the order is composite, so that
 * the test would prove nothing
 */
export const assertTestable = (curve: CurveContext, checkSubgroup: boolean): void => {
  if (checkSubgroup && !curve.negatesScalars && !hasPrimeOrder(curve))
    throw badArgument(`options.checkSubgroup: the order of ${curve.name} must be prime`);
};

/**
 * Returns the points of `loadBases` as bytes. The length of bytes is checked here and everything
 * else on the GPU.
 *
 * @throws MsmError `bad-argument`
 */
export const encodePoints = (
  { field, coordinates, pointBytes }: CurveContext,
  points: BytesLike | readonly AffinePoint<Coordinate>[],
): Uint8Array<ArrayBuffer> => {
  const given = copyBytes('points', points, pointBytes, 'point');
  if (given !== null) return given;
  if (!Array.isArray(points)) {
    throw badArgument(`points must be bytes (a Uint8Array, say) or an array of affine points, got ${kindOf(points)}`);
  }
  const count = points.length;
  const bytes = roomFor('points', count, pointBytes);
  const words = new BigUint64Array(bytes.buffer);
  // by index, because the array's class may have another iterator
  for (let i = 0; i < count; i++) {
    const point = (points as readonly AffinePoint<Coordinate>[])[i];
    if (typeof point !== 'object' || point === null) {
      throw badArgument(`points[${i}] must be { x, y, infinity }, got ${kindOf(point)}`);
    }
    if (point.infinity) continue;
    const numbers = (['x', 'y'] as const).flatMap((name) => numbersOf(name, point[name], coordinates.degree));
    let isZero = true;
    for (const [at, [name, value]] of numbers.entries()) {
      if (typeof value !== 'bigint') throw badArgument(`points[${i}].${name} must be a bigint, got ${kindOf(value)}`);
      if (value < 0n || value >= field.p) throw badArgument(`points[${i}].${name} must be in [0, p), got ${value}`);
      if (value !== 0n) isZero = false;
      writeNumber(words, (i * pointBytes + at * field.bytes) / 8, field.bytes / 8, value);
    }
    // zero bytes encode infinity
    if (isZero) throw badArgument(`points[${i}] is (0, 0) and not marked as infinity; it is no point of the curve`);
  }
  return bytes;
};

/**
 * Returns a lower bound on the number of given points, by their count or their bytes, without
 * reading any. Encodings that have a byte of flags on some curves are counted with it.
 */
export const countPoints = (
  { coordinates, pointBytes }: CurveContext,
  points: unknown,
  encoding: PointEncoding = 'le',
): number => {
  if (Array.isArray(points)) return points.length;
  const whole = encoding === 'eip2537' ? 128 * coordinates.degree : pointBytes;
  const size = /-compressed$/.test(encoding) ? coordinates.bytes : whole;
  const flags = /^(ark|gnark|zcash)/.test(encoding) ? 1 : 0;
  return Math.floor((givenBytes('points', points) ?? 0) / (size + flags));
};

/** True for little-endian bytes, which need no decoding. */
export const isPlain = (encoding: string | undefined): encoding is 'le' | undefined =>
  encoding === undefined || encoding === 'le';

/**
 * Copies bytes that are in another encoding, without decoding them.
 *
 * @param option name of the encoding's option, for errors
 * @param spare memory for the copy
 * @throws MsmError `bad-argument`
 */
export const encodedBytes = (
  name: string,
  given: unknown,
  size: number,
  option: string,
  spare?: SpareBytes,
): Uint8Array<ArrayBuffer> => {
  const bytes = copyBytes(name, given, size, 'scalar', spare);
  if (bytes === null)
    throw badArgument(`${name} must be bytes, as options.${option} is for bytes, got ${kindOf(given)}`);
  return bytes;
};

/**
 * Reads the offsets of `msmBatch` once. Each is checked later, against the bases.
 *
 * @throws MsmError `bad-argument`
 */
export const readOffsets = (
  offsets: readonly number[] | undefined,
  scalars: readonly unknown[],
): readonly unknown[] => {
  if (!Array.isArray(scalars)) throw badArgument(`scalars must be an array of vectors, got ${kindOf(scalars)}`);
  if (offsets === undefined) return [];
  if (!Array.isArray(offsets)) throw badArgument(`options.offsets must be an array, got ${kindOf(offsets)}`);
  if (offsets.length !== scalars.length) {
    throw badArgument(`options.offsets has ${offsets.length} numbers for ${scalars.length} vectors`);
  }
  return itemsOf(offsets as readonly unknown[]).map((offset, i) => {
    if (offset === undefined) throw badArgument(`options.offsets[${i}] is missing`);
    return offset;
  });
};

/**
 * Reads the offset of a vector: its scalar 0 multiplies the base at this index.
 *
 * @param length number of bases
 * @param n number of scalars of the vector
 * @throws MsmError `bad-argument` that names the argument
 */
export const readOffset = (
  length: number,
  n: number,
  offset: unknown,
  names: { readonly scalars: string; readonly offset: string },
): number => {
  const first = offset === undefined ? 0 : offset;
  if (typeof first !== 'number' || !Number.isInteger(first) || first < 0 || first > length) {
    throw badArgument(`${names.offset} must be an integer from 0 to bases.length = ${length}, got ${show(offset)}`);
  }
  if (n > length - first) {
    throw badArgument(
      `${names.scalars}: ${n} of them, but from offset ${first} there are only ${length - first} bases`,
    );
  }
  return first;
};
