import { kindTag, roomFor, viewBytes } from '../engine/bytes.js';
import { badArgument, kindOf, show } from '../errors.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';

/** Bytes of a file that is read in parts: a file handle of Node's, HTTP ranges, a database. */
export interface RandomAccess {
  /** How many bytes there are in all. */
  readonly byteLength: number;
  /** The bytes [from, to), exactly that many. What it throws reaches you as it is. */
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>;
}

/** A file: its bytes in memory, which are not copied; a `Blob` or `File`, of which no more is read than is asked for; or what reads it in parts. */
export type FileSource = ArrayBufferView | ArrayBufferLike | Blob | RandomAccess;

/** A file that can be read anywhere. */
export interface OpenFile {
  /** What errors call it. */
  readonly what: string;
  readonly byteLength: number;
  /** Whether reading makes views. */
  readonly inMemory: boolean;
  /** [from, to), which must be in the file. */
  read(from: number, to: number): Promise<Uint8Array>;
  /** Likewise. @throws MsmError `bad-argument` for a source that takes its time */
  readNow(from: number, to: number): Uint8Array;
}

/** Bytes that a source is asked for at a time, at most. */
export const CHUNK_BYTES = 2 ** 24;

/** @throws MsmError `bad-argument` for what is not what was asked for */
const checkRead = (what: string, bytes: unknown, from: number, to: number): Uint8Array => {
  const name = `${what}: reading [${from}, ${to})`;
  const view = typeof bytes === 'object' && bytes !== null ? viewBytes(name, bytes) : null;
  if (view === null) throw badArgument(`${name} must give a Uint8Array, got ${kindOf(bytes)}`);
  if (view.length !== to - from) throw badArgument(`${name} must give ${to - from} bytes, got ${view.length}`);
  return view;
};

const openBytes = (what: string, source: object): OpenFile | null => {
  const bytes = viewBytes(what, source);
  if (bytes === null) return null;
  const readNow = (from: number, to: number): Uint8Array => {
    // anew each time: the buffer may have been transferred since
    const now = viewBytes(what, bytes) as Uint8Array;
    return checkRead(what, now.subarray(from, to), from, to);
  };
  return { what, byteLength: bytes.length, inMemory: true, read: async (from, to) => readNow(from, to), readNow };
};

const refuseNow = (what: string) => (): never => {
  throw badArgument(`${what}: its source takes time to read, and pages are read at once; take points() or chunks()`);
};

const openBlob = (what: string, blob: Blob): OpenFile => ({
  what,
  byteLength: blob.size,
  inMemory: false,
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
  const { byteLength } = source;
  if (typeof source.read !== 'function') throw noFile(what, source);
  if (!Number.isSafeInteger(byteLength) || (byteLength as number) < 0) {
    throw badArgument(`${what}: byteLength of the file must be a number of bytes, got ${show(byteLength)}`);
  }
  const read = (from: number, to: number) => (source as RandomAccess).read(from, to);
  return {
    what,
    byteLength: byteLength as number,
    inMemory: false,
    read: async (from, to) => checkRead(what, await read(from, to), from, to),
    readNow: (from, to) => {
      const bytes = read(from, to);
      if (bytes instanceof Promise) {
        // nobody waits for it
        bytes.catch(() => undefined);
        return refuseNow(what)();
      }
      return checkRead(what, bytes, from, to);
    },
  };
};

/**
 * @param what errors call it: `zkey`
 * @throws MsmError `bad-argument` for what is no file
 */
export const openFile = (what: string, source: FileSource): OpenFile => {
  if (typeof source !== 'object' || source === null) throw noFile(what, source);
  const inMemory = openBytes(what, source);
  if (inMemory !== null) return inMemory;
  return ['Blob', 'File'].includes(kindTag(source))
    ? openBlob(what, source as Blob)
    : openRandomAccess(what, source as RandomAccess);
};

/** Numbers in bytes. */
export const numbersOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** [from, to) in one array, a view where the file is in memory; other sources are asked for no more than a chunk at a time. */
export const readRange = async (file: OpenFile, from: number, to: number): Promise<Uint8Array> => {
  // an HTTP range cannot be empty
  if (from === to) return new Uint8Array();
  if (file.inMemory || to - from <= CHUNK_BYTES) return file.read(from, to);
  const all = roomFor(file.what, to - from, 1, 'bytes');
  for (let at = from; at < to; at += CHUNK_BYTES) {
    all.set(await file.read(at, Math.min(to, at + CHUNK_BYTES)), at - from);
  }
  return all;
};
