import type { PagedBytes } from '../api/values.js';
import { badArgument, kindOf, show } from '../errors.js';

/** Bytes that a paged source is asked for at a time, at most. */
const PAGE_BYTES = 2 ** 24;

/** `DataView`, `ArrayBuffer` … also where the class is another realm's. */
export const kindTag = (value: object): string => Object.prototype.toString.call(value).slice('[object '.length, -1);

/** Zeroed room for `count` items of `size` bytes. @throws MsmError `bad-argument` */
export const roomFor = (name: string, count: number, size: number, items = 'of them'): Uint8Array<ArrayBuffer> => {
  try {
    return new Uint8Array(count * size);
  } catch {
    throw badArgument(`${name}: ${count} ${items} are more than JavaScript can hold in one array`);
  }
};

/**
 * What a view or a buffer has, byte by byte and not yet copied.
 *
 * @throws MsmError `bad-argument` where a buffer was transferred, or has shrunk so that the view hangs over its end
 */
const bytesOf = (name: string, given: object): Uint8Array => {
  try {
    if (!ArrayBuffer.isView(given)) return new Uint8Array(given as ArrayBuffer);
    // a typed array in such a state has length 0, and only its methods refuse; a DataView refuses by itself
    if (kindTag(given) !== 'DataView') Uint8Array.prototype.at.call(given as Uint8Array, 0);
    return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  } catch (error) {
    throw badArgument(`${name}: its bytes cannot be read (${(error as Error).message}); was its buffer transferred?`);
  }
};

/** @throws MsmError `bad-argument` for pages that are not what was asked for */
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
 * The bytes of a view or a buffer, not copied; null if it is neither.
 *
 * @param name what an error calls them
 * @throws MsmError `bad-argument` where a buffer was transferred, or has shrunk so that the view hangs over its end
 */
export const viewBytes = (name: string, given: object): Uint8Array | null =>
  // by what they are and not by their class: they may be of another realm. A proxy of a typed array is none, and has no pages either
  ArrayBuffer.isView(given) ||
  ['ArrayBuffer', 'SharedArrayBuffer'].includes(kindTag(given)) ||
  given instanceof Object.getPrototypeOf(Uint8Array)
    ? bytesOf(name, given)
    : null;

/** How many bytes were given, none of which is read; null if these are not bytes in any form. */
export const givenBytes = (name: string, given: unknown): number | null => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const view = viewBytes(name, given);
  if (view !== null) return view.length;
  const { slice } = given as Partial<PagedBytes>;
  return typeof slice === 'function' ? (given as PagedBytes).byteLength : null;
};

/** Arrays whose makers have given them up. */
const handedOver = new WeakSet<object>();

/** Has an array taken as it is where else it would be copied, once: whoever made it uses it no more. */
export const handOver = (bytes: Uint8Array): Uint8Array => {
  handedOver.add(bytes);
  return bytes;
};

const copyAny = (name: string, given: object): Uint8Array<ArrayBuffer> | null => {
  if (handedOver.delete(given)) return given as Uint8Array<ArrayBuffer>;
  const view = viewBytes(name, given);
  if (view !== null) return new Uint8Array(view);
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
 * A private copy of bytes that a caller gave, in whole items of `size` bytes; null if these are not bytes in any form.
 *
 * @param name what an error calls them
 * @param item what an error calls one item
 * @throws MsmError `bad-argument`
 */
export const copyBytes = (name: string, given: unknown, size: number, item: string): Uint8Array<ArrayBuffer> | null => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const copy = copyAny(name, given);
  if (copy !== null && copy.length % size !== 0) {
    throw badArgument(`${name}: ${copy.length} bytes are not a whole number of ${item}s of ${size} bytes`);
  }
  return copy;
};
