/** A file that is read in parts, and a section of it that has points. */

import type { PagedBytes, PointEncoding } from '../api/values.js';
import type { CurvesOf, Group } from '../curves/more-curves.js';
import { kindTag, roomFor, viewBytes } from '../engine/arguments.js';
import { badArgument, kindOf, show, untilAborted } from '../errors.js';
import { computedReads, freshReads } from '../handle.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import { type OptionTable, readOptions } from '../option-table.js';

/** A file that is read in parts: a file handle of Node, HTTP ranges, a database. */
export interface RandomAccess {
  /** Size of the file, in bytes. */
  readonly byteLength: number;
  /**
   * Text that changes with the contents, such as an `ETag`: a cache of keys tells versions of a file
   * apart by it.
   */
  readonly version?: string | undefined;
  /** Returns exactly the bytes [from, to). The library passes its errors on unchanged. */
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>;
}

/**
 * A file: bytes in memory, which are not copied; a `Blob` or `File`, read in parts; or a
 * `RandomAccess` source.
 */
export type FileSource = ArrayBufferView | ArrayBufferLike | Blob | RandomAccess;

/** Bytes in their order. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * A file as circuits and keys take it: bytes, a `Blob` or `File`, a source that is read in parts; a
 * `URL`, or text: a path in Node, an address in a page; a `Response`; a `ReadableStream` or another
 * async iterable of bytes.
 */
export type FileOrigin = FileSource | Response | URL | string | ByteStream;

/** A file that arrives from its first byte to its last. */
export interface ArrivingFile {
  /** Its bytes; a chunk is valid until the next one is asked for. */
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
  /** null if nobody says it before the end. */
  readonly byteLength: number | null;
}

/** Options of an opened file. */
export interface OriginOptions {
  /** Ends every wait for a server or a stream. */
  readonly signal: AbortSignal | undefined;
  /** Called with the bytes that have arrived, and all that the server says there are. */
  readonly onBytes?: ((done: number, total: number | null) => void) | undefined;
  /** True to read a file of a server in parts, if the server has them; false to download all of it. */
  readonly inParts: boolean;
}

/** A file that can be read at any position. */
export interface OpenFile {
  /** The name of the file in errors. */
  readonly what: string;
  readonly byteLength: number;
  /** Text that changes with the contents; empty if the source has none. */
  readonly version: string;
  /** True if reading returns views. */
  readonly inMemory: boolean;
  readonly isBlob: boolean;
  /** True if reading returns arrays that nobody else has. */
  readonly readsFresh: boolean;
  /** Reads [from, to), which must be in the file. */
  read(from: number, to: number): Promise<Uint8Array>;
  /** Reads [from, to) at once. @throws MsmError `bad-argument` for an asynchronous source */
  readNow(from: number, to: number): Uint8Array;
}

/** Letters at the beginning of a compact key. */
export const COMPACT_MAGIC = 'zkyc';

/** The most bytes that are read from a source at a time. */
export const CHUNK_BYTES = 2 ** 24;

/** Errors of reads: of servers, file systems and callers. */
const failedReads = /* @__PURE__ */ new WeakSet<object>();

/** Returns whether an error says that a file could not be read, and nothing about the contents of the file. */
export const isFailedRead = (error: unknown): boolean => failedReads.has(error as object);

/** Checks the result of a read. @throws MsmError `bad-argument` if it is not the bytes asked for */
const checkRead = (what: string, bytes: unknown, from: number, to: number): Uint8Array => {
  const name = `${what}: reading [${from}, ${to})`;
  const view = typeof bytes === 'object' && bytes !== null ? viewBytes(name, bytes) : null;
  if (view === null) throw badArgument(`${name} must return a Uint8Array, got ${kindOf(bytes)}`);
  if (view.length !== to - from) throw badArgument(`${name} must return ${to - from} bytes, got ${view.length}`);
  return view;
};

/** Joins bytes. */
export const joined = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

const openBytes = (what: string, source: object): OpenFile | null => {
  const bytes = viewBytes(what, source);
  if (bytes === null) return null;
  const readNow = (from: number, to: number): Uint8Array => {
    // a new view each time, because the buffer may have been transferred since
    const now = viewBytes(what, bytes) as Uint8Array;
    return checkRead(what, now.subarray(from, to), from, to);
  };
  return {
    what,
    byteLength: bytes.length,
    version: '',
    inMemory: true,
    isBlob: false,
    readsFresh: false,
    read: async (from, to) => readNow(from, to),
    readNow,
  };
};

const refuseNow = (what: string) => (): never => {
  throw badArgument(`${what}: pages() needs a synchronous source; use points() or chunks()`);
};

const openBlob = (what: string, blob: Blob): OpenFile => ({
  what,
  byteLength: blob.size,
  // of a File
  version: String((blob as Partial<File>).lastModified ?? ''),
  inMemory: false,
  isBlob: true,
  readsFresh: true,
  read: async (from, to) => {
    let buffer: ArrayBuffer;
    try {
      buffer = await blob.slice(from, to).arrayBuffer();
    } catch (cause) {
      throw new MsmError('bad-argument', `${what}: bytes [${from}, ${to}) of the Blob cannot be read`, { cause });
    }
    return checkRead(what, buffer, from, to);
  },
  readNow: refuseNow(what),
});

const noFile = (what: string, given: unknown): MsmError =>
  badArgument(`${what}: the file must be bytes, a Blob, or have byteLength and read(), got ${show(given)}`);

const openRandomAccess = (what: string, source: Partial<RandomAccess>): OpenFile => {
  const { byteLength, version = '' } = source;
  if (typeof source.read !== 'function') throw noFile(what, source);
  if (!Number.isSafeInteger(byteLength) || (byteLength as number) < 0) {
    throw badArgument(`${what}: byteLength of the file must be a non-negative integer, got ${show(byteLength)}`);
  }
  if (typeof version !== 'string') {
    throw badArgument(`${what}: version of the file must be a string, got ${kindOf(version)}`);
  }
  const read = (from: number, to: number) => (source as RandomAccess).read(from, to);
  return {
    what,
    byteLength: byteLength as number,
    version,
    inMemory: false,
    isBlob: false,
    readsFresh: (source as { [freshReads]?: true })[freshReads] === true,
    read: async (from, to) => checkRead(what, await read(from, to), from, to),
    readNow: (from, to) => {
      const bytes = read(from, to);
      if (bytes instanceof Promise) {
        // avoids an unhandled rejection
        bytes.catch(() => undefined);
        return refuseNow(what)();
      }
      return checkRead(what, bytes, from, to);
    },
  };
};

/**
 * Opens a file.
 *
 * @param what the name of the file in errors, such as `zkey`
 * @param signal ends every read, also one that the source never answers
 * @throws MsmError `bad-argument` if the source is not a file
 */
export const openFile = (what: string, source: FileSource, signal?: AbortSignal): OpenFile => {
  if (typeof source !== 'object' || source === null) throw noFile(what, source);
  const file =
    openBytes(what, source) ??
    (['Blob', 'File'].includes(kindTag(source))
      ? openBlob(what, source as Blob)
      : openRandomAccess(what, source as RandomAccess));
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    try {
      return await (file.inMemory ? file.read(from, to) : untilAborted(file.read(from, to), signal));
    } catch (error) {
      const isOfBytes = (source as { [computedReads]?: true })[computedReads] === true;
      if (typeof error === 'object' && error !== null && !isOfBytes) failedReads.add(error);
      throw error;
    }
  };
  return { ...file, read };
};

/** `openAsBlob` of Node counts the bytes of a file modulo this number. */
const BLOB_MODULUS = 2n ** 32n;

/**
 * Says why a file has fewer bytes than its header says.
 *
 * @param expected the number of bytes
 * @param isAll false: more bytes follow, of which the header says nothing yet
 */
export const whyShort = ({ isBlob, byteLength }: OpenFile, expected: bigint, isAll: boolean): string => {
  if (!isBlob || expected < BLOB_MODULUS) return 'is it cut off?';
  const reader = 'openFile of webgpu-msm/node reads such files';
  if (!isAll) return `is it cut off, or a Blob of Node, which counts bytes modulo 2^32? ${reader}`;
  return BigInt(byteLength) === expected % BLOB_MODULUS
    ? `the file has ${expected} bytes, and Node makes Blobs of files with sizes modulo 2^32; ${reader}`
    : 'is it cut off?';
};

/** Returns a view that reads numbers. */
export const numbersOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/**
 * Reads [from, to) into one array; a view if the file is in memory. Reads other sources chunk by
 * chunk.
 */
export const readRange = async (file: OpenFile, from: number, to: number): Promise<Uint8Array> => {
  // no read, because an HTTP range cannot be empty
  if (from === to) return new Uint8Array();
  if (file.inMemory || to - from <= CHUNK_BYTES) return file.read(from, to);
  const all = roomFor(file.what, to - from, 1, 'bytes');
  for (let at = from; at < to; at += CHUNK_BYTES) {
    all.set(await file.read(at, Math.min(to, at + CHUNK_BYTES)), at - from);
  }
  return all;
};

/**
 * Curves whose points the readers of this module find in files.
 *
 * @useDeclaredType
 */
export type FileCurve = keyof CurvesOf<'snarkjs' | 'gnark'>;

/** Options of `PointSection.chunks`. */
export interface ChunkOptions {
  /** Index of the first point. Default 0. */
  readonly from?: number | undefined;
  /** Index after the last point. Default: `count`. */
  readonly to?: number | undefined;
  /** The most bytes of a chunk. A chunk has at least one point. Default 16 MiB. */
  readonly chunkBytes?: number | undefined;
}

/** `PointSection.chunks`; the range is checked with the section. */
const chunkOptions = {
  of: 'chunks',
  rows: { from: { kind: 'any' }, to: { kind: 'any' }, chunkBytes: { kind: 'any', default: CHUNK_BYTES } },
} as const satisfies OptionTable<ChunkOptions>;

/** Consecutive points of a file, unchecked: `loadBases` checks them. */
export interface PointSection<Encoding extends PointEncoding = PointEncoding> {
  /** The name of the section in the format. */
  readonly name: string;
  /** The curve, for `createMsmEngine({ curve, group })`. */
  readonly curve: FileCurve;
  /** The group, for `createMsmEngine({ curve, group })`. */
  readonly group: Group;
  /** The encoding of the points, for `loadBases(points, { encoding })`. */
  readonly encoding: Encoding;
  /** Number of points. */
  readonly count: number;
  /** Bytes of a point. */
  readonly pointBytes: number;
  /** Bytes of all points: `count · pointBytes`. */
  readonly byteLength: number;
  /**
   * Returns the points [from, to): a view if the file is in memory, else a new array, read 16 MiB
   * at a time.
   *
   * @throws MsmError `bad-argument` for a range outside of the section, or a source that returns
   * other bytes than asked for
   * @example
   * ```ts
   * const first = await section.points(0, 1);
   * console.log(first.length === section.pointBytes); // true
   * ```
   */
  points(from?: number, to?: number): Promise<Uint8Array>;
  /**
   * Yields the points in chunks of whole points, for sections that are too large for memory.
   *
   * @throws MsmError `bad-argument` as `points` does, and for invalid options
   * @example
   * ```ts
   * let points = 0;
   * for await (const chunk of section.chunks({ chunkBytes: 2 ** 20 })) {
   *   points += chunk.length / section.pointBytes;
   * }
   * console.log(points === section.count); // true
   * ```
   */
  chunks(options?: ChunkOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Returns the points [from, to) as pages, which `loadBases` reads itself, 16 MiB at a time, so
   * that memory holds no second copy. The file must be in memory, or its `read` must return bytes
   * and no promise, as one over Node's `readSync` does.
   *
   * @throws MsmError `bad-argument` as `points` does; `slice` too
   * @example
   * ```ts
   * const bases = await engine.loadBases(section.pages(), { encoding: section.encoding });
   * console.log(bases.length === section.count); // true
   * ```
   */
  pages(from?: number, to?: number): PagedBytes;
}

/** The position of points in a file. */
interface Place<Encoding extends PointEncoding>
  extends Pick<PointSection<Encoding>, 'name' | 'curve' | 'group' | 'encoding' | 'count' | 'pointBytes'> {
  /** Position of the first byte. */
  readonly at: number;
}

export const pointSection = <Encoding extends PointEncoding>(
  file: OpenFile,
  { at, ...what }: Place<Encoding>,
): PointSection<Encoding> => {
  const { name, count, pointBytes } = what;
  const checkRange = (items: string, from: number, to: number, end: number): void => {
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || from > to || to > end) {
      throw badArgument(`${file.what}: ${items} [${show(from)}, ${show(to)}) of ${name} are not in [0, ${end})`);
    }
  };
  const checkPoints = (from: number, to: number): void => checkRange('points', from, to, count);
  return {
    ...what,
    byteLength: count * pointBytes,
    points: async (from = 0, to = count) => {
      checkPoints(from, to);
      return readRange(file, at + from * pointBytes, at + to * pointBytes);
    },
    chunks: (options = {}) => {
      const { from = 0, to = count, chunkBytes } = readOptions(chunkOptions, options);
      checkPoints(from, to);
      if (!Number.isSafeInteger(chunkBytes) || chunkBytes < 1) {
        throw badArgument(`${file.what}: chunkBytes must be a positive integer, got ${show(chunkBytes)}`);
      }
      const each = Math.max(1, Math.floor(chunkBytes / pointBytes));
      return (async function* () {
        for (let i = from; i < to; i += each) {
          yield await readRange(file, at + i * pointBytes, at + Math.min(to, i + each) * pointBytes);
        }
      })();
    },
    pages: (from = 0, to = count) => {
      checkPoints(from, to);
      const start = at + from * pointBytes;
      const byteLength = (to - from) * pointBytes;
      return {
        byteLength,
        slice: (first, last) => {
          checkRange('bytes', first, last, byteLength);
          return file.readNow(start + first, start + last);
        },
      };
    },
  };
};
