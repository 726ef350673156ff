/**
 * Keys that arrive as streams. A cache writes them to its folder as they arrive, page by page, and reads
 * them from there. A key whose points are right gets its index and its name; any other is removed.
 */
import { badArgument } from '../errors.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import type { CacheFolder, FileWriter } from './cache-folder.js';
import { type KeyReader, StoredKeyReader } from './cached-file.js';
import { isCompactHead } from './compact-source.js';
import { sha256 } from './sha256.js';
import { type ArrivingFile, CHUNK_BYTES, openFile } from './source.js';
import {
  includesPagesOf,
  PAGE_BYTES,
  type StoredFacts,
  type StoredIndex,
  type StoredPage,
  writeIndex,
} from './stored-pages.js';

/** End of the names of keys that are arriving, or are not checked yet. */
export const RECEIVED = '.received';

/** Bytes for which room is made at a time, where nobody says how many will come. */
const ROOM_BYTES = 2 ** 26;

/**
 * Writes a key to a folder as it arrives: one page and one chunk are in memory.
 *
 * @param makeRoom makes room for bytes behind those that are written; returns false if there is none
 * @returns the key; or the file anew, from its first byte on, if the folder has no room or fails, or it is a
 *   compact key, which is stored as its `.zkey`
 * @throws errors of the stream; then nothing is left in the folder
 */
export const receiveKey = async (
  folder: CacheFolder,
  { chunks, byteLength }: ArrivingFile,
  makeRoom: (written: number, bytes: number) => Promise<boolean>,
): Promise<ReceivedKey | ArrivingFile> => {
  const pages = new PageWriter(folder);
  let rest: Uint8Array = new Uint8Array();
  const anew = (): ArrivingFile => ({ chunks: fileAnew(pages, rest, chunks), byteLength });
  const store = async (): Promise<boolean> => {
    const { written } = pages;
    if (written === 0 && isCompactHead(pages.page)) return false;
    const room = byteLength === null ? ROOM_BYTES : written === 0 ? byteLength : 0;
    try {
      if (room > 0 && written % ROOM_BYTES === 0 && !(await makeRoom(written, room))) return false;
      await pages.store();
      return true;
    } catch {
      // a folder that fails is told of when the key is stored another time
      return false;
    }
  };
  try {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      for (rest = next.value; rest.length > 0; ) {
        rest = rest.subarray(pages.fill(rest));
        if (pages.filled === PAGE_BYTES && !(await store())) return anew();
      }
    }
    const total = pages.written + pages.filled;
    if (total === 0 || (pages.filled > 0 && !(await store()))) return anew();
    return await pages.finish(total).catch((cause: unknown) => {
      throw new MsmError('bad-argument', `zkey: the cache lost it as it arrived: ${String(cause)}; open it again`, {
        cause,
      });
    });
  } catch (error) {
    await pages.remove();
    throw error;
  }
};

/** Yields a file from its first byte on, the beginning of which a folder has. */
async function* fileAnew(
  pages: PageWriter,
  rest: Uint8Array,
  chunks: ArrivingFile['chunks'],
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    try {
      yield* pages.readBack();
    } finally {
      await pages.remove();
    }
    if (rest.length > 0) yield rest;
    yield* chunks;
  } finally {
    // ends the connection if a part before the rest failed
    await chunks.return();
  }
}

/** Writes a file page by page. */
class PageWriter {
  /** The page that is being filled. */
  readonly page = new Uint8Array(PAGE_BYTES);
  /** Bytes in it. */
  filled = 0;
  readonly #folder: CacheFolder;
  readonly #name = `${crypto.randomUUID()}${RECEIVED}`;
  readonly #pages = new Map<number, StoredPage>();
  #writer: FileWriter | null = null;

  constructor(folder: CacheFolder) {
    this.#folder = folder;
  }

  /** Bytes that are written: whole pages. */
  get written(): number {
    return this.#pages.size * PAGE_BYTES;
  }

  /** Fills the page up with the first bytes of a chunk. @returns how many */
  fill(chunk: Uint8Array): number {
    const bytes = Math.min(chunk.length, PAGE_BYTES - this.filled);
    this.page.set(chunk.subarray(0, bytes), this.filled);
    this.filled += bytes;
    return bytes;
  }

  /** Writes the page; the last one is filled up with zeros. @throws errors of the folder */
  async store(): Promise<void> {
    this.#writer ??= await this.#folder.create(this.#name);
    const digest = await sha256(this.page.subarray(0, this.filled));
    await this.#writer.write(this.page.fill(0, this.filled));
    this.#pages.set(this.#pages.size, { slot: this.#pages.size, digest });
    this.filled = 0;
  }

  /** Returns the key. @param byteLength of the file @throws errors of the folder */
  async finish(byteLength: number): Promise<ReceivedKey> {
    await this.#close();
    const file = openFile('cache', await this.#folder.open(this.#name));
    const index = { facts: { byteLength, version: '', preparedBytes: 0 }, pages: this.#pages };
    return new ReceivedKey(this.#folder, this.#name, new StoredKeyReader({ index, file }, null, noDamage), this.#pages);
  }

  /** Yields all bytes that were filled in. */
  async *readBack(): AsyncGenerator<Uint8Array, void, undefined> {
    const { written } = this;
    await this.#close();
    if (written > 0) {
      const file = openFile('cache', await this.#folder.open(this.#name));
      for (let at = 0; at < written; at += CHUNK_BYTES) yield file.read(at, Math.min(written, at + CHUNK_BYTES));
    }
    if (this.filled > 0) yield this.page.subarray(0, this.filled);
  }

  async #close(): Promise<void> {
    const writer = this.#writer;
    this.#writer = null;
    await writer?.close();
  }

  /** Removes the file. Never rejects. */
  async remove(): Promise<void> {
    await this.#close().catch(() => undefined);
    await this.#folder.remove(this.#name).catch(() => undefined);
  }
}

const noDamage = async (): Promise<void> => undefined;

/** A key in the folder of a cache. Its points are not checked yet. */
export class ReceivedKey implements KeyReader {
  /** Nothing is prepared of it: all of it is written when that could begin. */
  readonly prepared = null;
  readonly byteLength: number;
  readonly version: string;
  /** Its id in the cache; null if that has it not. */
  id: string | null = null;
  readonly #folder: CacheFolder;
  readonly #name: string;
  readonly #pages: ReadonlyMap<number, StoredPage>;
  /** null once the key is removed. */
  #reader: KeyReader | null;
  #isKept = false;

  constructor(folder: CacheFolder, name: string, reader: StoredKeyReader, pages: ReadonlyMap<number, StoredPage>) {
    this.byteLength = reader.byteLength;
    this.version = reader.version;
    this.#folder = folder;
    this.#name = name;
    this.#reader = reader;
    this.#pages = pages;
  }

  get areChecked(): boolean {
    return this.#isKept && this.#reader?.areChecked === true;
  }

  async read(from: number, to: number): Promise<Uint8Array> {
    if (this.#reader === null) throw badArgument('zkey: it came as a stream, which was read to its end; open it again');
    return this.#reader.read(from, to);
  }

  /** Returns whether a stored key has the same pages, as far as it has them. */
  isSameAs(index: StoredIndex): boolean {
    return index.facts.byteLength === this.byteLength && includesPagesOf(this.#pages, index);
  }

  /**
   * Makes it a key of the cache, after all points that were read have been checked.
   *
   * @param name of its file
   * @param open opens the stored key
   * @throws errors of the folder
   */
  async keep(key: Omit<StoredFacts, 'preparedBytes'>, name: string, open: () => Promise<KeyReader>): Promise<void> {
    const writer = await this.#folder.append(this.#name);
    try {
      await writer.write(await writeIndex({ facts: { ...key, preparedBytes: 0 }, pages: this.#pages }));
    } finally {
      await writer.close();
    }
    await this.#folder.rename(this.#name, name);
    this.#reader = await open();
    this.#isKept = true;
    this.id = key.id;
  }

  /** Removes it, unless it is kept. Never rejects. */
  async drop(): Promise<void> {
    if (this.#isKept) return;
    this.#reader = null;
    await this.#folder.remove(this.#name).catch(() => undefined);
  }
}
