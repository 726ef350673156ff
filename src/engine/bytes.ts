import type { PagedBytes } from '../api/values.js';
import { badArgument, kindOf, show } from '../errors.js';
import type { SpareBytes } from './spare-bytes.js';

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

/** Returns the number of given bytes, without reading any; null for anything but bytes. */
export const givenBytes = (name: string, given: unknown): number | null => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const view = viewBytes(name, given);
  if (view !== null) return view.length;
  const { slice } = given as Partial<PagedBytes>;
  return typeof slice === 'function' ? (given as PagedBytes).byteLength : null;
};

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
