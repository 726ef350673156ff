/**
 * The file of a key, read through a cache. Where the cache has the key, pages come from there, and
 * each is compared with its digest; else pages come from the source, and are stored as they are read.
 * A page that the cache lacks, or has damaged, comes from the source, whose bytes must have the
 * digest. So all pages of a key are those that were checked when it was stored.
 */
import { assertNotAborted, badArgument, untilAborted } from '../errors.js';
import type { FileWriter } from './cache-folder.js';
import { sha256 } from './sha256.js';
import { joined, type OpenFile, type RandomAccess } from './source.js';
import {
  firstPrepared,
  PAGE_BYTES,
  type StoredFacts,
  type StoredIndex,
  type StoredPage,
  writeIndex,
} from './stored-pages.js';

/** A key in a cache. */
export interface StoredFile {
  readonly index: Pick<StoredIndex, 'pages'> & {
    readonly facts: Pick<StoredFacts, 'byteLength' | 'version' | 'preparedBytes'>;
  };
  readonly file: OpenFile;
}

/** Reads a key, from the cache where that has it. */
export interface KeyReader extends RandomAccess {
  /** Whether the points of all bytes that were read were checked when the key was stored. */
  readonly areChecked: boolean;
  /** Bytes that an earlier visit prepared of the key; null if there are none. */
  readonly prepared: PreparedBytes | null;
  /**
   * Keeps what was prepared of the key for later visits, if there is room; absent unless the key is being
   * stored. Called once, at most.
   *
   * @param chunks the bytes, in whole pages but for the last chunk
   */
  prepare?(byteLength: number, chunks: Iterable<Uint8Array>): Promise<void>;
}

/** Bytes that an earlier visit prepared of a key. */
export interface PreparedBytes {
  readonly byteLength: number;
  /** @returns null if they are damaged */
  read(from: number, to: number): Promise<Uint8Array | null>;
}

/** Reads pages that a cache has. */
export class StoredKeyReader implements KeyReader {
  readonly byteLength: number;
  readonly version: string;
  #stored: StoredFile;
  /** The whole key; null if there is none beside the cache. */
  readonly #source: OpenFile | null;
  readonly #onDamage: (why: string) => Promise<void>;
  readonly #another: () => Promise<StoredFile | null>;
  /** Resolves when another file was looked for; null if none was since the last file. */
  #looking: Promise<void> | null = null;
  #areChecked = true;

  /**
   * @param onDamage called when pages of the cache were damaged
   * @param another returns another file of the cache that has all pages of this one; null if there is none
   */
  constructor(
    stored: StoredFile,
    source: OpenFile | null,
    onDamage: (why: string) => Promise<void>,
    another: () => Promise<StoredFile | null> = async () => null,
  ) {
    this.byteLength = stored.index.facts.byteLength;
    this.version = stored.index.facts.version;
    this.#stored = stored;
    this.#source = source;
    this.#onDamage = onDamage;
    this.#another = another;
  }

  get areChecked(): boolean {
    return this.#areChecked;
  }

  get prepared(): PreparedBytes | null {
    const byteLength = this.#stored.index.facts.preparedBytes;
    return byteLength === 0 ? null : { byteLength, read: (from, to) => this.#readPrepared(from, to) };
  }

  async #readPrepared(from: number, to: number): Promise<Uint8Array | null> {
    const before = firstPrepared(this.byteLength);
    const [first, end] = [Math.floor(from / PAGE_BYTES), Math.ceil(to / PAGE_BYTES)];
    const start = first * PAGE_BYTES;
    const stored = this.#stored;
    const pages = Array.from({ length: end - first }, (_, i) => stored.index.pages.get(before + first + i) ?? null);
    const bytes =
      runsOf(pages).length === 1 ? await inOrder(stored.file, pages, start, stored.index.facts.preparedBytes) : null;
    if (bytes !== null) return bytes.subarray(from - start, to - start);
    await this.#onDamage('zkey: what was prepared of it is damaged in the cache');
    return null;
  }

  async read(from: number, to: number): Promise<Uint8Array> {
    const [first, end] = [Math.floor(from / PAGE_BYTES), Math.ceil(to / PAGE_BYTES)];
    const start = first * PAGE_BYTES;
    const stored = this.#stored;
    const pages = Array.from({ length: end - first }, (_, i) => stored.index.pages.get(first + i) ?? null);
    const runs = runsOf(pages);
    if (runs.length === 1) return (await this.#run(stored, pages, first)).subarray(from - start, to - start);
    const all = new Uint8Array(Math.min(end * PAGE_BYTES, this.byteLength) - start);
    for (const [i, length] of runs) {
      all.set(await this.#run(stored, pages.slice(i, i + length), first + i), i * PAGE_BYTES);
    }
    return all.subarray(from - start, to - start);
  }

  /** Returns pages of a run in a file of the cache. @param first number of the first one */
  async #run(stored: StoredFile, pages: readonly (StoredPage | null)[], first: number): Promise<Uint8Array> {
    const run = await inOrder(stored.file, pages, first * PAGE_BYTES, this.byteLength);
    return run ?? (await this.#oneByOne(stored, pages, first));
  }

  async #oneByOne(stored: StoredFile, pages: readonly (StoredPage | null)[], first: number): Promise<Uint8Array> {
    const start = first * PAGE_BYTES;
    const all = new Uint8Array(Math.min(pages.length * PAGE_BYTES, this.byteLength - start));
    for (const [i, page] of pages.entries()) {
      const from = start + i * PAGE_BYTES;
      const single = page === null ? null : await inOrder(stored.file, [page], from, this.byteLength);
      const other = single ?? (page === null ? null : await this.#fromAnother(stored, first + i));
      all.set(other ?? (await this.#fromSource(from, page)), i * PAGE_BYTES);
    }
    return all;
  }

  /**
   * Reads a page from another file that has the key, and so all pages from now on. Visits that store a key at the
   * same time leave several files, of which a later visit removes all but one.
   *
   * @param failed the file that has not the page
   * @returns null if no file has the key as it was stored
   */
  async #fromAnother(failed: StoredFile, number: number): Promise<Uint8Array | null> {
    if (this.#stored === failed) {
      this.#looking ??= this.#lookForAnother();
      await this.#looking;
    }
    const { index, file } = this.#stored;
    const page = this.#stored === failed ? undefined : index.pages.get(number);
    return page === undefined ? null : inOrder(file, [page], number * PAGE_BYTES, this.byteLength);
  }

  /** Looks for another file that has the key. Never rejects. */
  async #lookForAnother(): Promise<void> {
    const other = await this.#another().catch(() => null);
    if (other === null) return;
    this.#stored = other;
    this.#looking = null;
  }

  /** @param page null: the cache never had it */
  async #fromSource(from: number, page: StoredPage | null): Promise<Uint8Array> {
    const to = Math.min(this.byteLength, from + PAGE_BYTES);
    const what = `zkey: bytes [${from}, ${to})`;
    if (page !== null) await this.#onDamage(`${what} are missing or damaged in the cache`);
    if (this.#source === null) {
      throw badArgument(
        `${what} are not in the cache${page === null ? '' : ' as they were stored'}; open the key again from its source`,
      );
    }
    const bytes = await this.#source.read(from, to);
    if (page === null) this.#areChecked = false;
    if (page === null || (await areThose(bytes, [page]))) return bytes;
    throw badArgument(
      `${what} are not those that the cache was given with the same header; the cached key was deleted, open the key again`,
    );
  }
}

/**
 * Returns pages of a run; null if they are not as stored.
 *
 * @param file of the cache
 * @param start position of the first one in the key, or in what was prepared of it
 * @param byteLength bytes of the one or the other
 */
const inOrder = async (
  file: OpenFile,
  pages: readonly (StoredPage | null)[],
  start: number,
  byteLength: number,
): Promise<Uint8Array | null> => {
  const slot = pages[0]?.slot;
  if (slot === undefined) return null;
  const length = Math.min(pages.length * PAGE_BYTES, byteLength - start);
  const at = slot * PAGE_BYTES;
  const all = await file.read(at, at + length).catch(() => null);
  if (all === null) return null;
  return (await areThose(all, pages as readonly StoredPage[])) ? all : null;
};

/**
 * Cuts pages into runs: pages that are one after the other in the file, or that are not there. A
 * section begins in a page that was stored with the section before, so its first read has two runs.
 *
 * @returns the index of the first page of each run, and its length
 */
const runsOf = (pages: readonly (StoredPage | null)[]): [first: number, length: number][] => {
  const runs: [first: number, length: number][] = [];
  for (const [i, page] of pages.entries()) {
    const before = pages[i - 1];
    const last = runs.at(-1);
    const goesOn = page === null ? before === null : page.slot - 1 === before?.slot;
    if (last !== undefined && goesOn) last[1]++;
    else runs.push([i, 1]);
  }
  return runs;
};

/** Returns whether bytes are those of stored pages. */
const areThose = async (bytes: Uint8Array, pages: readonly StoredPage[]): Promise<boolean> => {
  const digests = await Promise.all(pagesOf(bytes).map(sha256));
  return digests.every((digest, i) => digest === pages[i]?.digest);
};

/**
 * Returns whether a source has the pages of a stored key; true, too, if it cannot be read.
 *
 * @throws MsmError `aborted`
 */
export const isOfSource = async (
  { facts: { byteLength }, pages }: StoredIndex,
  source: OpenFile,
  signal: AbortSignal,
): Promise<boolean> => {
  for (const [number, page] of pages) {
    if (number >= firstPrepared(byteLength)) continue;
    assertNotAborted(signal, 'proof');
    const from = number * PAGE_BYTES;
    const bytes = await untilAborted(source.read(from, Math.min(byteLength, from + PAGE_BYTES)), signal).catch(
      () => null,
    );
    assertNotAborted(signal, 'proof');
    if (bytes === null) return true;
    if (!(await areThose(bytes, [page]))) return false;
  }
  return true;
};

/** Returns whether all pages of a file of the cache are as they were stored. */
export const isIntact = async ({ index: { facts, pages }, file }: StoredFile): Promise<boolean> => {
  const prepared = firstPrepared(facts.byteLength);
  for (const [number, page] of pages) {
    const isOfKey = number < prepared;
    const start = PAGE_BYTES * (isOfKey ? number : number - prepared);
    const bytes = await inOrder(file, [page], start, isOfKey ? facts.byteLength : facts.preparedBytes);
    if (bytes === null) return false;
  }
  return true;
};

const pagesOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, i) =>
    bytes.subarray(i * PAGE_BYTES, (i + 1) * PAGE_BYTES),
  );

/**
 * Pages that stay in memory while a key is stored: those at the ends of the parts that were read last. A section
 * ends in the page in which the next one begins, and headers are read again, which takes time where the source is
 * a server or a compact key.
 */
const RECENT_PAGES = 16;

/** Reads a key from its source, and stores the pages that it reads. */
export class StoringKeyReader implements KeyReader {
  readonly prepared = null;
  readonly byteLength: number;
  readonly version: string;
  readonly #source: OpenFile;
  readonly #writer: FileWriter;
  readonly #onFailure: (error: unknown) => void;
  readonly #pages = new Map<number, StoredPage>();
  /** Pages by their numbers, in the order in which they were read. */
  readonly #recent = new Map<number, Uint8Array>();
  /** Most bytes of what is prepared, and those that were. */
  readonly #mostPrepared: number;
  #preparedBytes = 0;
  /** Pages that were read, in the order in which they are stored. */
  #storing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;
  /** The key once it is stored. */
  #stored: KeyReader | null = null;

  /**
   * @param mostPrepared bytes for which there is room beside the key
   * @param onFailure called when the key cannot be stored; it is read on
   */
  constructor(source: OpenFile, writer: FileWriter, mostPrepared: number, onFailure: (error: unknown) => void) {
    this.#mostPrepared = mostPrepared;
    this.byteLength = source.byteLength;
    this.version = source.version;
    this.#source = source;
    this.#writer = writer;
    this.#onFailure = onFailure;
  }

  get areChecked(): boolean {
    return this.#stored !== null;
  }

  async prepare(byteLength: number, chunks: Iterable<Uint8Array>): Promise<void> {
    if (this.#stored !== null || this.#failure !== null || byteLength > this.#mostPrepared) return;
    let first = firstPrepared(this.byteLength);
    for (const chunk of chunks) {
      const pages = pagesOf(chunk);
      const digests = await Promise.all(pages.map(sha256));
      const page = first;
      this.#storing = this.#storing.then(() => this.#store(page, pages, digests));
      await this.#storing;
      first += pages.length;
    }
    this.#preparedBytes = byteLength;
  }

  async read(from: number, to: number): Promise<Uint8Array> {
    if (this.#stored !== null) return this.#stored.read(from, to);
    if (this.#failure !== null) return this.#source.read(from, to);
    let [first, end] = [Math.floor(from / PAGE_BYTES), Math.ceil(to / PAGE_BYTES)];
    const start = first * PAGE_BYTES;
    const [before, behind]: [Uint8Array[], Uint8Array[]] = [[], []];
    for (; first < end && this.#recent.has(first); first++) before.push(this.#recent.get(first) as Uint8Array);
    for (; first < end && this.#recent.has(end - 1); end--) behind.unshift(this.#recent.get(end - 1) as Uint8Array);
    const bytes = first === end ? new Uint8Array() : await this.#readPages(first, end);
    const all = before.length + behind.length === 0 ? bytes : joined([...before, bytes, ...behind]);
    return all.subarray(from - start, to - start);
  }

  /** Reads pages from the source, and stores them. */
  async #readPages(first: number, end: number): Promise<Uint8Array> {
    const start = first * PAGE_BYTES;
    const bytes = await this.#source.read(start, Math.min(this.byteLength, end * PAGE_BYTES));
    const digests = await Promise.all(pagesOf(bytes).map(sha256));
    for (const [i, digest] of digests.entries()) {
      const known = this.#pages.get(first + i);
      if (known === undefined || known.digest === digest) continue;
      throw badArgument(`zkey: its bytes from ${start + i * PAGE_BYTES} on changed while it was loaded`);
    }
    for (const number of new Set([first, end - 1]))
      this.#remember(number, pagesOf(bytes)[number - first] as Uint8Array);
    // at most two chunks are in memory: this one, and the one before while it is written
    const before = this.#storing;
    this.#storing = before.then(() => this.#store(first, pagesOf(bytes), digests));
    await before;
    return bytes;
  }

  /** Keeps a copy of a page in memory, in the place of the one that was read least recently. */
  #remember(number: number, page: Uint8Array): void {
    this.#recent.delete(number);
    this.#recent.set(number, page.slice());
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= RECENT_PAGES) return;
      this.#recent.delete(oldest);
    }
  }

  /** Appends pages that are not stored yet. Never rejects. */
  async #store(first: number, pages: readonly Uint8Array[], digests: readonly string[]): Promise<void> {
    try {
      for (const [i, page] of pages.entries()) {
        if (this.#failure !== null || this.#pages.has(first + i)) continue;
        this.#pages.set(first + i, { slot: this.#pages.size, digest: digests[i] as string });
        await this.#writer.write(page);
        if (page.length < PAGE_BYTES) await this.#writer.write(new Uint8Array(PAGE_BYTES - page.length));
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = { error };
    this.#recent.clear();
    this.#writer.abort().catch(() => undefined);
    this.#onFailure(error);
  }

  /**
   * Writes the index, after all points that were read have been checked.
   *
   * @param open opens the stored key
   * @returns false if the key could not be stored, of which `onFailure` was told
   */
  async keep(key: Omit<StoredFacts, 'preparedBytes'>, open: () => Promise<KeyReader>): Promise<boolean> {
    await this.#storing;
    this.#recent.clear();
    if (this.#failure !== null) return false;
    try {
      const facts = { ...key, preparedBytes: this.#preparedBytes };
      await this.#writer.write(await writeIndex({ facts, pages: this.#pages }));
      await this.#writer.close();
      this.#stored = await open();
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** Ends the storing of a key that could not be loaded. */
  async drop(): Promise<void> {
    await this.#storing;
    if (this.#failure !== null || this.#stored !== null) return;
    this.#failure = { error: null };
    await this.#writer.abort().catch(() => undefined);
  }
}
