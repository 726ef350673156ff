/** Caches of keys as callers hold them. The code that keeps keys is loaded by their first use. */
import { badArgument, notLoaded, show } from '../errors.js';
import type { CachePlace } from './cache-folder.js';
import type { FileSource, RandomAccess } from './source.js';
import type { CachedKey, KeyCache, StoredKeys } from './stored-keys.js';

export type { CachedKey, KeyCache } from './stored-keys.js';

/** Options of `opfsCache` and `folderCache`. */
export interface KeyCacheOptions {
  /**
   * Most bytes of all keys together. The keys that were used least recently, and that are not open in any
   * visit, make room for others.
   *
   * @defaultValue 4 GiB
   */
  readonly maxBytes?: number | undefined;
}

/** Default of `maxBytes`. */
const MOST_BYTES = 2 ** 32;

/** Returns the most bytes of a cache. @throws MsmError `bad-argument` */
export const mostBytesOf = (of: string, { maxBytes = MOST_BYTES }: KeyCacheOptions = {}): number => {
  if (Number.isSafeInteger(maxBytes) && maxBytes >= 0) return maxBytes;
  throw badArgument(`${of}: options.maxBytes must be a non-negative integer of bytes, got ${show(maxBytes)}`);
};

/** A cache that opens its folder, and loads the code of it, when it is used. */
export class KeyCacheAt implements KeyCache {
  readonly place: CachePlace;
  #keys: Promise<StoredKeys> | null = null;

  constructor(place: CachePlace) {
    this.place = place;
  }

  async list(): Promise<CachedKey[]> {
    return (await this.#open()).list();
  }

  async open(id: string): Promise<RandomAccess | null> {
    return (await this.#open()).open(id);
  }

  async delete(id?: string): Promise<void> {
    return (await this.#open()).delete(id);
  }

  /** Takes a key that arrives. */
  async receive(...given: Parameters<StoredKeys['receive']>): ReturnType<StoredKeys['receive']> {
    return (await this.#open()).receive(...given);
  }

  /** Removes a key that `receive` returned, and that did not come to `through`. */
  async leave(...given: Parameters<StoredKeys['leave']>): ReturnType<StoredKeys['leave']> {
    return (await this.#open()).leave(...given);
  }

  /** Returns the id of a key that `receive` returned, by which `open` finds it; null if it is not kept. */
  async idOf(file: FileSource): Promise<string | null> {
    return (await this.#open()).idOf(file);
  }

  /** Opens the file of a key through the cache. */
  async through(...given: Parameters<StoredKeys['through']>): ReturnType<StoredKeys['through']> {
    return (await this.#open()).through(...given);
  }

  #open(): Promise<StoredKeys> {
    this.#keys ??= import('./stored-keys.js')
      .catch(notLoaded('stored-keys'))
      .then(({ StoredKeys: Keys }) => new Keys(this.place));
    return this.#keys;
  }
}

/**
 * Returns a cache of keys in the origin private file system of a page or worker, for the option
 * `cache` of `openProvingKey`, `openCircuit` and `accelerate`. A key that it has is neither downloaded
 * nor checked again; of the source only the header is read. Every page of a key has a digest, which
 * is compared whenever the page is read. Whoever can write the folder decides which keys are used.
 *
 * @param name name of the folder
 * @throws MsmError `bad-argument` for a name that is none
 * @example
 * ```ts
 * import { opfsCache } from 'webgpu-msm/formats';
 *
 * const cache = opfsCache('proving-keys'); // for openProvingKey(file, { cache }), in a page or a worker
 * console.log(typeof cache.list); // function
 * ```
 */
export const opfsCache = (name: string, options?: KeyCacheOptions): KeyCache => {
  if (typeof name !== 'string' || !/^[^/\\]+$/.test(name) || name === '.' || name === '..') {
    throw badArgument(`opfsCache: name must be the name of a folder, got ${show(name)}`);
  }
  return new KeyCacheAt({ kind: 'opfs', path: name, maxBytes: mostBytesOf('opfsCache', options) });
};
