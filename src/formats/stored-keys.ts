/** Keys that are kept between visits: which there are, how they are recognised, and room for them. */
import { badArgument } from '../errors.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import { readSections } from './binfile.js';
import {
  type CacheFolder,
  type CachePlace,
  type EndUse,
  type FolderEntry,
  openCacheFolder,
  USE,
} from './cache-folder.js';
import {
  isIntact,
  isOfSource,
  type KeyReader,
  type StoredFile,
  StoredKeyReader,
  StoringKeyReader,
} from './cached-file.js';
import type { ZkeyFile } from './compact-source.js';
import { RECEIVED, ReceivedKey, receiveKey } from './received-key.js';
import { hasSha256, sha256 } from './sha256.js';
import { type ArrivingFile, type FileSource, type OpenFile, openFile, type RandomAccess } from './source.js';
import { includesPagesOf, PAGE_BYTES, readIndex, type StoredFacts, type StoredIndex } from './stored-pages.js';
import { NEWEST } from './zkey.js';

/** Share of a key's bytes, as a divisor, that what is prepared of it may take beside it. */
const PREPARED_SHARE = 4;

/** A key in a cache. */
export interface CachedKey {
  /** Hexadecimal digits that identify the contents of the file, for `open` and `delete`. */
  readonly id: string;
  /** The proof system. */
  readonly protocol: 'groth16' | 'plonk' | 'fflonk';
  /** The curve. */
  readonly curve: 'bn254' | 'bls12-381';
  /** Bytes of the `.zkey`. */
  readonly byteLength: number;
  /**
   * Bytes in the cache: the parts of the `.zkey` that proofs need, or all of one that came as a stream, and
   * their digests.
   */
  readonly storedBytes: number;
  /** Milliseconds from 1970 until the last use. */
  readonly usedMs: number;
}

/**
 * Keys that stay on a disk or in the browser from one visit to the next. Made by `opfsCache` or
 * `folderCache`, for the option `cache` of `openProvingKey`, `openCircuit` and `accelerate`.
 */
export interface KeyCache {
  /**
   * Returns the keys that this version of the library has stored whole, the last used first.
   *
   * @throws errors of the file system; `bad-argument` where there is none
   */
  list(): Promise<CachedKey[]>;
  /**
   * Opens the file of a key without its source: what was read of it when it was stored, which is all
   * that `openProvingKey` reads. Reading fails for a page that is damaged, and deletes the key.
   *
   * @param id as `list` has it
   * @returns null if the cache has no such key
   * @throws errors as `list`
   */
  open(id: string): Promise<RandomAccess | null>;
  /**
   * Deletes a key, or all. A key that is open reads what is missing from its source; one that came as a
   * stream fails to prove, if it does not have all it needs in memory.
   *
   * @param id as `list` has it; left out: all keys
   * @throws errors as `list`
   */
  delete(id?: string): Promise<void>;
}

/** The file of a key that is loaded, and what becomes of it. */
export interface KeyLoading {
  readonly reader: KeyReader;
  /** Stores the key, after all its points have been checked. Never rejects. */
  keep(key: Pick<StoredFacts, 'protocol' | 'curve'>): Promise<void>;
  /** Ends the storing, and the use of the key. Never rejects. */
  drop(): Promise<void>;
  /** Ends the use of the key, which keeps its file from being evicted. */
  endUse(): void;
  /**
   * Compares the key in the cache with its source, and deletes it if they differ. Of a source that cannot
   * be read nothing is known, and the key stays.
   *
   * @returns whether the key was deleted
   * @throws MsmError `aborted`
   */
  forgetIfWrong(signal: AbortSignal): Promise<boolean>;
}

/** End of the names of keys, behind the id and a random part. */
const ENDING = '.key';

/** The file with the times of last use. */
const TIMES = 'times.json';

/** Time after which a file without an index is left of a visit that ended. */
const ABANDONED_MS = 3_600_000;

/** A stored key, and the name of its file. */
interface Stored extends StoredFile {
  readonly name: string;
  readonly index: StoredIndex;
}

/** A stored key in use. */
interface UsedKey extends Stored {
  readonly endUse: EndUse;
}

/** Keys in a folder. */
export class StoredKeys implements KeyCache {
  readonly place: CachePlace;
  #folder: Promise<CacheFolder> | null = null;

  constructor(place: CachePlace) {
    this.place = place;
  }

  async list(): Promise<CachedKey[]> {
    const folder = await this.#open();
    const times = await readTimes(folder);
    const keys: CachedKey[] = [];
    for (const entry of await keyFiles(folder)) {
      const stored = await openStored(folder, entry.name);
      if (stored === null || keys.some(({ id }) => id === stored.index.facts.id)) continue;
      const { id, protocol, curve, byteLength } = stored.index.facts;
      const usedMs = usedAt(times, entry);
      keys.push({ id, protocol, curve, byteLength, storedBytes: entry.byteLength, usedMs });
    }
    return keys.sort((left, right) => right.usedMs - left.usedMs);
  }

  async open(id: string): Promise<RandomAccess | null> {
    const folder = await this.#open();
    const stored = await this.#find(folder, id);
    return stored === null ? null : new StoredKeyReader(stored, null, () => folder.remove(stored.name));
  }

  async delete(id?: string): Promise<void> {
    await this.#delete((name) => (id === undefined ? name === TIMES || isOfKey(name) : idOf(name) === id));
  }

  /** @returns false if no file has such a name */
  async #delete(isGone: (name: string) => boolean): Promise<boolean> {
    const folder = await this.#open();
    const names = (await folder.list()).map(({ name }) => name).filter(isGone);
    for (const name of names) await folder.remove(name);
    return names.length > 0;
  }

  /**
   * Takes a key that arrives, and writes it to the folder.
   *
   * @returns the key, for `through`; or the file anew, if it cannot be kept as it arrives
   * @throws errors of the stream
   */
  async receive(file: ArrivingFile): Promise<ReceivedKey | ArrivingFile> {
    const folder = hasSha256() ? await this.#open().catch(() => null) : null;
    if (folder === null) return file;
    return receiveKey(folder, file, async (written, bytes) => {
      if (written + bytes > this.place.maxBytes) return false;
      return this.#makeRoom(folder, bytes);
    });
  }

  /** Returns the id of a key that `receive` returned; null if it is not kept. */
  idOf(file: FileSource): string | null {
    return file instanceof ReceivedKey ? file.id : null;
  }

  /** Removes a file that `receive` returned. Never rejects. */
  async leave(file: FileSource): Promise<void> {
    if (file instanceof ReceivedKey) await file.drop();
  }

  /**
   * Opens the file of a key: from the cache, or so that it is stored as it is read. A cache that
   * fails is left out, with a warning.
   *
   * @param given the file as its caller has it, which may be a result of `receive`
   * @throws MsmError `bad-argument` if the file is no `.zkey`; and errors of reading it
   */
  async through(
    given: FileSource,
    { file: source, head }: ZkeyFile,
    warn: (message: string) => void,
  ): Promise<KeyLoading> {
    if (given instanceof ReceivedKey) return this.#received(given, { file: source, head }, warn);
    const plain = plainFile(source);
    const fail = (what: string, error: unknown): void => warn(`cache: ${what}: ${String(error)}`);
    if (!hasSha256()) {
      warn('cache: there is no crypto.subtle, which secure contexts alone have, so keys are not kept');
      return plain;
    }
    const id = await identify(source, head);
    try {
      const folder = await this.#open();
      const used = await this.#use(folder, id);
      if (used !== null) {
        await noteUse(folder, id);
        return this.#stored(used, source, folder, warn);
      }
      const mostPrepared = Math.ceil(source.byteLength / PREPARED_SHARE);
      const hasRoom = async (bytes: number): Promise<boolean> => this.#makeRoom(folder, source.byteLength + bytes);
      const isRoomy = await hasRoom(mostPrepared);
      if (!isRoomy && !(await hasRoom(0))) {
        warn(`cache: a key of ${source.byteLength} bytes finds no room, so it is not kept`);
        return plain;
      }
      const name = nameOf(id);
      const writer = await folder.create(name);
      const reader = new StoringKeyReader(source, writer, isRoomy ? mostPrepared : 0, (error) =>
        fail('the key is not kept', error),
      );
      const endUse = await folder.use(name);
      const drop = async (): Promise<void> => {
        await reader.drop();
        endUse();
      };
      try {
        // stores the pages that identify the key, and finds a file that changes
        if ((await identify(openFile('zkey', reader))) !== id)
          throw badArgument('zkey: it changed while it was loaded');
      } catch (error) {
        await drop();
        throw error;
      }
      let kept: KeyLoading | null = null;
      return {
        reader,
        drop,
        endUse: () => (kept === null ? endUse() : kept.endUse()),
        forgetIfWrong: async (signal) => (await kept?.forgetIfWrong(signal)) ?? false,
        keep: async ({ protocol, curve }) => {
          const { version, byteLength } = source;
          const open = async (): Promise<KeyReader> => {
            kept = this.#stored({ ...(await openWritten(folder, name)), endUse }, source, folder, warn);
            return kept.reader;
          };
          if (await reader.keep({ id, version, byteLength, protocol, curve }, open)) await noteUse(folder, id);
        },
      };
    } catch (error) {
      if (error instanceof MsmError && error.code === 'aborted') throw error;
      fail('it cannot be used', error);
      return plain;
    }
  }

  /** Opens a key that arrived, and takes it into the cache, unless that has it. */
  async #received(
    received: ReceivedKey,
    { file, head }: ZkeyFile,
    warn: (message: string) => void,
  ): Promise<KeyLoading> {
    const id = await identify(file, head);
    const folder = await this.#open();
    const used = await this.#use(folder, id);
    // what arrived is the last copy, if the stored one is damaged
    if (used !== null && received.isSameAs(used.index) && (await isIntact(used))) {
      received.id = id;
      await noteUse(folder, id);
      const loading = this.#stored(used, file, folder, warn);
      const keep = (): Promise<void> => received.drop();
      return { ...loading, keep, drop: () => Promise.all([keep(), loading.drop()]).then(() => undefined) };
    }
    used?.endUse();
    const name = nameOf(id);
    let endUse = await folder.use(name);
    const keep = async ({ protocol, curve }: Pick<StoredFacts, 'protocol' | 'curve'>): Promise<void> => {
      const { version, byteLength } = file;
      const open = async (): Promise<KeyReader> => {
        const loading = this.#stored({ ...(await openWritten(folder, name)), endUse }, null, folder, warn);
        endUse = loading.endUse;
        return loading.reader;
      };
      try {
        await received.keep({ id, version, byteLength, protocol, curve }, name, open);
        // another file with the same header: the source has changed, or one of the two was damaged
        if (used !== null) await folder.remove(used.name);
        await noteUse(folder, id);
      } catch (error) {
        warn(`cache: the key is not kept: ${String(error)}`);
      }
    };
    const drop = async (): Promise<void> => {
      await received.drop();
      endUse();
    };
    return { reader: received, keep, drop, endUse: () => endUse(), forgetIfWrong: async () => false };
  }

  #open(): Promise<CacheFolder> {
    const opening = this.#folder ?? openCacheFolder(this.place);
    this.#folder = opening;
    opening.catch(() => {
      this.#folder = null;
    });
    return opening;
  }

  /**
   * Returns a stored key. Two visits that stored it at the same time left two files: one stays.
   *
   * @param damaged name of a file that is not returned
   */
  async #find(folder: CacheFolder, id: string, damaged?: string): Promise<Stored | null> {
    let found: Stored | null = null;
    for (const { name } of await keyFiles(folder)) {
      const stored = idOf(name) === id && name !== damaged ? await openStored(folder, name) : null;
      if (stored?.index.facts.id !== id) continue;
      if (found === null) found = stored;
      else await folder.remove(name);
    }
    return found;
  }

  /** Returns a stored key, which stays until its use ends, unless a caller deletes it. */
  async #use(folder: CacheFolder, id: string): Promise<UsedKey | null> {
    const stored = await this.#find(folder, id);
    if (stored === null) return null;
    const endUse = await folder.use(stored.name);
    // another visit may have evicted it before
    const isThere = await stored.file.read(0, 1).catch(() => null);
    if (isThere !== null) return { ...stored, endUse };
    endUse();
    return null;
  }

  /** @param source null: there is none beside the cache */
  #stored(stored: UsedKey, source: OpenFile | null, folder: CacheFolder, warn: (message: string) => void): KeyLoading {
    let isDamaged = false;
    let { name, endUse } = stored;
    let isOver = false;
    const onDamage = async (why: string): Promise<void> => {
      if (isDamaged) return;
      isDamaged = true;
      warn(`${why}, so the next visit stores the key anew`);
      await folder.remove(name).catch(() => undefined);
    };
    const another = async (): Promise<Stored | null> => {
      const found = await this.#find(folder, stored.index.facts.id, name);
      if (found === null || !includesPagesOf(found.index.pages, stored.index)) return null;
      endUse();
      // else a later visit might take it, and remove the other
      await folder.remove(name).catch(() => undefined);
      [name, endUse] = [found.name, await folder.use(found.name)];
      if (isOver) endUse();
      return found;
    };
    const reader = new StoredKeyReader(stored, source, onDamage, another);
    let isRight: boolean | null = null;
    const forgetIfWrong = async (signal: AbortSignal): Promise<boolean> => {
      if (isRight !== null || source === null) return false;
      isRight = await isOfSource(stored.index, source, signal);
      const { id } = stored.index.facts;
      return isRight ? false : this.#delete((name) => idOf(name) === id).catch(() => false);
    };
    const end = (): void => {
      isOver = true;
      endUse();
    };
    return { reader, forgetIfWrong, keep: async () => undefined, drop: async () => end(), endUse: end };
  }

  /** Deletes leftovers, and keys by last use that no visit uses, until some bytes fit. @returns false if they do not fit */
  async #makeRoom(folder: CacheFolder, bytes: number): Promise<boolean> {
    const { maxBytes } = this.place;
    const needed = bytes + Math.ceil(bytes / PAGE_BYTES) * 64 + 2 * PAGE_BYTES;
    if (needed > maxBytes) return false;
    const times = await readTimes(folder);
    let files = (await folder.list()).filter(({ name }) => isOfKey(name));
    files.sort((left, right) => usedAt(times, left) - usedAt(times, right));
    const remove = async (entry: FolderEntry): Promise<void> => {
      if (await folder.removeUnused(entry.name)) files = files.filter((each) => each !== entry);
    };
    const isOver = async (): Promise<boolean> =>
      files.reduce((sum, { byteLength }) => sum + byteLength, needed) > maxBytes || (await folder.freeBytes()) < needed;
    // a file that arrived has an index before it has the name of a key
    const isKey = async ({ name }: FolderEntry): Promise<boolean> =>
      !name.endsWith(RECEIVED) && (await openStored(folder, name)) !== null;
    for (const entry of [...files]) {
      const isLeft = Date.now() - entry.changedMs > ABANDONED_MS && !(await isKey(entry));
      if (isLeft) await remove(entry);
    }
    for (const entry of [...files]) {
      if (!(await isOver())) return true;
      // any other file is being written by another visit
      if (await isKey(entry)) await remove(entry);
    }
    return !(await isOver());
  }
}

/** A file that no cache has. */
const plainFile = (source: OpenFile): KeyLoading => ({
  reader: {
    byteLength: source.byteLength,
    areChecked: false,
    prepared: null,
    read: (from, to) => source.read(from, to),
  },
  keep: async () => undefined,
  drop: async () => undefined,
  endUse: () => undefined,
  forgetIfWrong: async () => false,
});

/** Returns whether a file is a key, one that is arriving, or the mark of one in use. */
const isOfKey = (name: string): boolean => [ENDING, RECEIVED, USE].some((ending) => name.endsWith(ending));

/** Returns a new name for the file of a key. */
const nameOf = (id: string): string => `${id}.${crypto.randomUUID()}${ENDING}`;

const idOf = (name: string): string => name.slice(0, name.indexOf('.'));

const keyFiles = async (folder: CacheFolder): Promise<FolderEntry[]> =>
  (await folder.list()).filter(({ name }) => name.endsWith(ENDING));

/** Opens a stored key. @returns null if it is not whole, was damaged, or is of another version */
const openStored = async (folder: CacheFolder, name: string): Promise<Stored | null> => {
  try {
    const file = openFile('cache', await folder.open(name));
    const index = await readIndex(file);
    return index === null ? null : { name, file, index };
  } catch {
    // removed by another visit, or what it says is no index
    return null;
  }
};

/** Opens a key that was just written. @throws MsmError `bad-argument` */
const openWritten = async (folder: CacheFolder, name: string): Promise<Stored> => {
  const written = await openStored(folder, name);
  if (written === null) throw badArgument('its index cannot be read');
  return written;
};

/* Identity of keys. */

/** Sections that tell keys apart, beside the protocol: header, points of the verifier, contributions. */
const telling = { 1: [2, 3, 10], 2: [2], 10: [2] } as Readonly<Record<number, readonly number[] | undefined>>;

/** The most bytes of a section that are read to identify a key. */
const TELLING_BYTES = 2 ** 16;

/**
 * Identifies a key by its length, its table of sections, its header, which of Groth16 has the secrets
 * of the setup and of PLONK and FFLONK commitments to the circuit, its contributions, which begin
 * with a hash of the circuit, and by the version of the source.
 *
 * @param head bytes before the first section, if they have been read
 * @throws MsmError `bad-argument` if it is no `.zkey`
 */
const identify = async (file: OpenFile, head?: Uint8Array): Promise<string> => {
  const sections = await readSections(file, 'zkey', NEWEST, () => undefined, head);
  const protocol = sections.get(1);
  const [number = 0] = protocol === undefined ? [] : await file.read(protocol.at, protocol.at + 1);
  const digests: string[] = [];
  for (const id of telling[number] ?? []) {
    const { at, byteLength } = sections.get(id) ?? { at: 0, byteLength: 0 };
    const bytes = byteLength === 0 ? new Uint8Array() : await file.read(at, at + Math.min(byteLength, TELLING_BYTES));
    digests.push(await sha256(bytes));
  }
  const text = JSON.stringify([file.byteLength, file.version, number, [...sections], digests]);
  return sha256(new TextEncoder().encode(text));
};

/* Times of last use. A lost time makes a key be deleted sooner than another, and harms nothing else. */

type Times = Readonly<Record<string, number>>;

const usedAt = (times: Times, { name, changedMs }: FolderEntry): number => times[idOf(name)] ?? changedMs;

const readTimes = async (folder: CacheFolder): Promise<Times> => {
  try {
    const file = openFile('cache', await folder.open(TIMES));
    const times = JSON.parse(new TextDecoder().decode(await file.read(0, file.byteLength)));
    return Object.fromEntries(Object.entries(times as Times).filter(([, each]) => typeof each === 'number'));
  } catch {
    // missing, or written by another visit at the same time
    return {};
  }
};

const noteUse = async (folder: CacheFolder, id: string): Promise<void> => {
  try {
    const names = new Set((await keyFiles(folder)).map(({ name }) => idOf(name)));
    const times = Object.entries(await readTimes(folder)).filter(([each]) => names.has(each));
    const writer = await folder.create(TIMES);
    await writer.write(new TextEncoder().encode(JSON.stringify({ ...Object.fromEntries(times), [id]: Date.now() })));
    await writer.close();
  } catch {
    // another visit writes the file
  }
};
