/**
 * Arguments of calls as bytes, and results as callers want them: points in any encoding, bytes of
 * views, buffers and pages, and offsets. Everything is checked and copied at the call.
 */
import type { AffinePoint, BytesLike, Coordinate, PagedBytes, PointEncoding } from '../api/values.js';
import { type CurveContext, numbersOf } from '../curves/curve.js';
import { originalOf } from '../curves/edwards.js';
import { hasPrimeOrder } from '../curves/jacobian.js';
import type { PointSource } from '../curves/point-source.js';
import { badArgument, kindOf, notLoaded, show } from '../errors.js';
import { writeNumber } from '../field/modulus.js';
import type { TimeSlice } from '../scheduling/time-slice.js';

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

/** Decodes in steps. @throws MsmError `bad-argument` */
const inTurns = async <Result>(steps: Generator<void, Result, void>, timeSlice: TimeSlice): Promise<Result> => {
  for (;;) {
    const { done, value } = await withEncodings(() => steps.next());
    if (done === true) return value;
    if (timeSlice.isOver) await timeSlice.yield();
  }
};

/**
 * Returns a copy of points, in the format that loads take.
 *
 * @param timeSlice pauses the decoding, not the copy
 * @throws MsmError `bad-argument`
 */
export const readPoints = async (
  curve: CurveContext,
  points: BytesLike | readonly AffinePoint<Coordinate>[],
  encoding: PointEncoding | undefined,
  timeSlice: TimeSlice,
): Promise<PointSource> => {
  let source: PointSource;
  if (isPlain(encoding)) {
    source = { bytes: encodePoints(curve, points), scale: 1n, encoding: 'le' };
  } else {
    const bytes = encodedBytes('points', points, 1, 'encoding');
    const steps = await withEncodings(({ readPoints: read }) => read(curve, bytes, encoding));
    source = await inTurns(steps, timeSlice);
  }
  if (curve.edwards === undefined) return source;
  return { ...source, scale: 1n, edwards: { scale: source.scale } };
};

type Bytes = Uint8Array<ArrayBuffer>;

/** Sum in the form that a call requested. */
export type ResultPoint = AffinePoint<Coordinate> | Bytes;

/** Writes a sum in the form that a call requested. */
export type ResultWriter = (sum: AffinePoint<Coordinate>) => ResultPoint;

/** Returns the writer for a form of results. */
export const resultWriter = async (curve: CurveContext, result: 'affine' | PointEncoding): Promise<ResultWriter> => {
  const { edwards } = curve;
  const own = (sum: AffinePoint<Coordinate>): AffinePoint<Coordinate> =>
    edwards === undefined ? sum : originalOf(curve, sum);
  if (result === 'affine') return own;
  const write = isPlain(result)
    ? (bytes: Bytes) => bytes
    : await withEncodings(({ writerOf }) => writerOf(curve, result));
  return (sum) => {
    const point = own(sum);
    // on Edwards curves infinity is a point like others
    const infinity = point.infinity && edwards === undefined;
    return write(encodePoints(curve, [{ ...point, infinity }]));
  };
};

/** The module of encodings other than little-endian bytes. */
type Encodings = typeof import('../encodings/encodings.js');

/** Loads the encodings and reads with them. @throws MsmError `bad-argument` if reading fails */
export const withEncodings = async <Result>(read: (encodings: Encodings) => Result): Promise<Result> => {
  const encodings = await import('../encodings/encodings.js').catch(notLoaded('encodings'));
  try {
    return read(encodings);
  } catch (error) {
    throw badArgument((error as Error).message);
  }
};

/** Most bytes that one call of a paged source returns. */
const PAGE_BYTES = 2 ** 24;

/**
 * Returns the name of a built-in class, such as `DataView` or `ArrayBuffer`, also of another realm.
 */
export const kindTag = (value: object): string => Object.prototype.toString.call(value).slice('[object '.length, -1);

/** Allocates zeros for `count` items of `size` bytes. @throws MsmError `bad-argument` */
export const roomFor = (name: string, count: number, size: number, items = 'of them'): Uint8Array<ArrayBuffer> => {
  try {
    return new Uint8Array(count * size);
  } catch {
    throw badArgument(`${name}: ${count} ${items} are more than JavaScript can hold in one array`);
  }
};

/**
 * Returns the bytes of a view or a buffer, without a copy.
 *
 * @throws MsmError `bad-argument` if the buffer was transferred, or shrank so that the view exceeds
 *   it
 */
const bytesOf = (name: string, given: object): Uint8Array => {
  try {
    if (!ArrayBuffer.isView(given)) return new Uint8Array(given as ArrayBuffer);
    // the length of such a typed array is 0 and only its methods throw; a DataView throws by itself
    if (kindTag(given) !== 'DataView') Uint8Array.prototype.at.call(given as Uint8Array, 0);
    return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  } catch (error) {
    throw badArgument(`${name}: its bytes cannot be read (${(error as Error).message}); was its buffer transferred?`);
  }
};

/** Copies the bytes of a paged source. @throws MsmError `bad-argument` for wrong pages */
const copyPages = (name: string, source: PagedBytes, byteLength: number): Uint8Array<ArrayBuffer> => {
  const copy = roomFor(name, byteLength, 1, 'bytes');
  for (let from = 0; from < byteLength; from += PAGE_BYTES) {
    const to = Math.min(byteLength, from + PAGE_BYTES);
    const page: unknown = source.slice(from, to);
    if (!ArrayBuffer.isView(page)) {
      throw badArgument(`${name}.slice(${from}, ${to}) must give a Uint8Array, got ${kindOf(page)}`);
    }
    const bytes = bytesOf(name, page);
    if (bytes.length !== to - from) {
      throw badArgument(`${name}.slice(${from}, ${to}) must give ${to - from} bytes, got ${bytes.length}`);
    }
    copy.set(bytes, from);
  }
  return copy;
};

/**
 * Returns the bytes of a view or a buffer, without a copy; null for anything else.
 *
 * @param name of the argument, for errors
 * @throws MsmError `bad-argument` if the buffer was transferred, or shrank so that the view exceeds
 *   it
 */
export const viewBytes = (name: string, given: object): Uint8Array | null =>
  // objects of another realm have other classes, so tags decide; a proxy of a typed array throws in
  // bytesOf
  ArrayBuffer.isView(given) ||
  ['ArrayBuffer', 'SharedArrayBuffer'].includes(kindTag(given)) ||
  given instanceof Object.getPrototypeOf(Uint8Array)
    ? bytesOf(name, given)
    : null;

/** Arrays that their makers have handed over. */
const handedOver = new WeakSet<object>();

/**
 * Hands an array over: the next call takes it without a copy, and its maker must not use it again.
 */
export const handOver = (bytes: Uint8Array): Uint8Array => {
  handedOver.add(bytes);
  return bytes;
};

const copyAny = (name: string, given: object, spare: SpareBytes | undefined): Uint8Array<ArrayBuffer> | null => {
  if (handedOver.delete(given)) return given as Uint8Array<ArrayBuffer>;
  const view = viewBytes(name, given);
  if (view !== null) return spare === undefined ? new Uint8Array(view) : spare.copy(view);
  const { slice } = given as Partial<PagedBytes>;
  if (typeof slice !== 'function') return null;
  const { byteLength } = given as Partial<PagedBytes>;
  if (byteLength === undefined) return null;
  if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
    throw badArgument(`${name}.byteLength must be a number of bytes, got ${show(byteLength)}`);
  }
  return copyPages(name, given as PagedBytes, byteLength);
};

/**
 * Copies the bytes of a caller, in whole items of `size` bytes; returns null for anything but
 * bytes.
 *
 * @param name of the argument, for errors
 * @param item name of one item, for errors
 * @param spare memory for the copy
 * @throws MsmError `bad-argument`
 */
export const copyBytes = (
  name: string,
  given: unknown,
  size: number,
  item: string,
  spare?: SpareBytes,
): Uint8Array<ArrayBuffer> | null => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const copy = copyAny(name, given, spare);
  if (copy !== null && copy.length % size !== 0) {
    throw badArgument(`${name}: ${copy.length} bytes are not a whole number of ${item}s of ${size} bytes`);
  }
  return copy;
};

/* Copies of callers' bytes, in memory that earlier copies have left. */

/** Bytes of the smallest copy whose memory is kept. */
const LEAST_BYTES = 2 ** 16;

/** Copies whose memory is kept: those of a small batch. */
const MOST_KEPT = 4;

/**
 * Keeps the memory of copies that are no longer used, for copies of the same length. A page of
 * fresh memory is zeroed at its first use, which takes longer than the copy. Garbage collection may
 * take what is kept.
 */
export class SpareBytes {
  /** Memory of the copies that were made here. */
  readonly #own = new WeakSet<ArrayBuffer>();
  #kept: WeakRef<ArrayBuffer>[] = [];

  copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const { length } = bytes;
    if (length < LEAST_BYTES) return new Uint8Array(bytes);
    const spare = this.#take(length);
    const copy = spare === undefined ? new Uint8Array(bytes) : new Uint8Array(spare);
    if (spare !== undefined) copy.set(bytes);
    this.#own.add(copy.buffer);
    return copy;
  }

  /** Keeps the memory of a copy that nothing uses any more. Other memory is left alone. */
  giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
    // memory that is kept already has left this set
    if (!this.#own.delete(buffer)) return;
    this.#kept = [new WeakRef(buffer), ...this.#kept].slice(0, MOST_KEPT);
  }

  #take(length: number): ArrayBuffer | undefined {
    const found = this.#kept.find((each) => each.deref()?.byteLength === length);
    this.#kept = this.#kept.filter((each) => each !== found);
    return found?.deref();
  }
}
