/** A cache of the keys that whole proofs are computed with. */
import { badArgument, MsmError } from '../errors.js';
import type { CircuitKey } from '../proofs/api.js';
import type { KeySource } from './proof-files.js';

/** Counts of a key cache. */
export interface KeyCacheCounts {
  /** Keys that were loaded for whole proofs. */
  keyLoads: number;
  /** Bytes of keys that stay loaded for whole proofs, by the sizes of their files. */
  keyBytes: number;
}

/** The size of a key cache. */
export interface KeyBudget {
  /** Returns the budget in bytes. */
  bytes(): number;
  /** Called when a key found no room; `bytes` would hold it beside the keys in use. */
  onTight(bytes: number): void;
}

const LEFT = 'left to snarkjs';

/** Returns an error that leaves a proof or an MSM to snarkjs for a reason that is no failure. */
export const leftToSnarkjs = (reason: string): Error => Object.assign(new Error(reason), { name: LEFT });

/** Returns whether an error is one of `leftToSnarkjs`. */
export const isLeftToSnarkjs = (error: unknown): boolean => error instanceof Error && error.name === LEFT;

interface Entry<Key> {
  readonly key: Promise<Key>;
  bytes: number;
  users: number;
  /** Logical time of the last use. */
  usedAt: number;
}

/** Failures that a second load of the same key would repeat. */
const lasting: readonly string[] = ['bad-argument', 'not-on-curve'];

/** Names that are remembered. A forgotten one costs speed alone. */
const REMEMBERED = 64;

/**
 * Keys within one budget, the least recently used evicted first. Two keys that do not fit together
 * and are used in turn would evict each other before each proof. So a key that returns displaces
 * only keys that were not used since its last request.
 */
export class KeyCache<Key extends CircuitKey> {
  readonly #budget: KeyBudget;
  readonly #counts: KeyCacheCounts;
  readonly #entries = new Map<string, Entry<Key>>();
  /** Logical times of the last requests by name, the latest at the end. */
  readonly #requestedAt = new Map<string, number>();
  #clock = 0;

  constructor(budget: KeyBudget, counts: KeyCacheCounts) {
    this.#budget = budget;
    this.#counts = counts;
  }

  /**
   * Calls `use` with a key, and loads it first if needed.
   *
   * @param kind sets keys apart that are opened by different functions
   * @throws an error of `leftToSnarkjs` if the key finds no room; and errors of `open` and `use`
   */
  async with<Result>(
    kind: string,
    file: KeySource,
    open: () => Promise<Key>,
    use: (key: Key) => Promise<Result>,
  ): Promise<Result> {
    const name = `${kind} ${await file.identify()}`;
    const last = this.#requestedAt.get(name) ?? Number.POSITIVE_INFINITY;
    this.#remember(name);
    const entry = this.#entries.get(name) ?? this.#load(name, kind, file, last, open);
    entry.users++;
    entry.usedAt = this.#clock;
    try {
      return await use(await entry.key);
    } finally {
      entry.users--;
    }
  }

  #remember(name: string): void {
    this.#requestedAt.delete(name);
    this.#requestedAt.set(name, ++this.#clock);
    const [oldest] = this.#requestedAt.keys();
    if (this.#requestedAt.size > REMEMBERED) this.#requestedAt.delete(oldest as string);
  }

  #load(name: string, kind: string, file: KeySource, last: number, open: () => Promise<Key>): Entry<Key> {
    this.#makeRoom(file.byteLength, last);
    this.#counts.keyBytes += file.byteLength;
    const entry: Entry<Key> = {
      ...{ bytes: file.byteLength, users: 0, usedAt: this.#clock },
      key: this.#open(name, kind, file, open),
    };
    this.#entries.set(name, entry);
    entry.key.catch((error: unknown) => {
      if (this.#entries.get(name) !== entry) return;
      this.#counts.keyBytes -= entry.bytes;
      entry.bytes = 0;
      const isLasting = isLeftToSnarkjs(error) || (error instanceof MsmError && lasting.includes(error.code));
      if (!isLasting) this.#entries.delete(name);
    });
    return entry;
  }

  async #open(name: string, kind: string, file: KeySource, open: () => Promise<Key>): Promise<Key> {
    const key = await open();
    try {
      // other contents under this name would make wrong proofs later
      if (`${kind} ${await file.identify()}` !== name) throw badArgument('zkey: it changed while it was loaded');
    } catch (error) {
      key.destroy();
      throw error;
    }
    this.#counts.keyLoads++;
    return key;
  }

  /**
   * Evicts keys until some bytes fit.
   *
   * @param before the logical time from which on used keys stay
   * @throws an error of `leftToSnarkjs` if they do not fit
   */
  #makeRoom(bytes: number, before: number): void {
    const budget = this.#budget.bytes();
    const idle = [...this.#entries].filter(
      ([, entry]) => entry.users === 0 && entry.bytes > 0 && entry.usedAt < before,
    );
    idle.sort(([, left], [, right]) => left.usedAt - right.usedAt);
    const evictable = idle.reduce((sum, [, entry]) => sum + entry.bytes, 0);
    if (this.#counts.keyBytes - evictable + bytes > budget) {
      this.#budget.onTight(this.#counts.keyBytes + bytes);
      throw leftToSnarkjs(`the key of ${bytes} bytes finds no room`);
    }
    for (const [name, entry] of idle) {
      if (this.#counts.keyBytes + bytes <= budget) return;
      this.#entries.delete(name);
      this.#counts.keyBytes -= entry.bytes;
      this.#destroy(entry);
    }
  }

  #destroy({ key }: Entry<Key>): void {
    key.then(
      (each) => each.destroy(),
      () => undefined,
    );
  }

  /** Destroys all keys, those that are still loading as soon as they are loaded. */
  clear(): void {
    for (const entry of this.#entries.values()) this.#destroy(entry);
    this.#entries.clear();
    this.#counts.keyBytes = 0;
  }
}
