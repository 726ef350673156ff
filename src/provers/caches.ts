/**
 * Caches from one proof of snarkjs to the next: points and scalars of its MSMs are found by
 * comparing bytes, keys of whole proofs by the identity of their file. All three caches are of one
 * kind: the least recently used entry is evicted first, and freed once nobody uses it.
 */
import type { Bases, MsmEngine, Scalars } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { PointSource } from '../curves/point-source.js';
import { handOver, roomFor } from '../engine/arguments.js';
import { assertNotAborted, badArgument, isUnverified, MsmError } from '../errors.js';
import type { LoadedScalars } from '../msm/inputs/scalars.js';
import { copyOf, type FfBytes, type FfCurveName, type PointReader } from './ffjavascript.js';
import type { KeySource } from './proof-files.js';

/** The size of a cache. */
export interface CacheBudget {
  /** Returns the budget in bytes. Asked before every eviction. */
  bytes(): number;
  /** Called when points had to be loaded again, or a key did not stay; `bytes` would be enough. */
  onTight(bytes: number): void;
}

/** Evictions and names that are remembered. A forgotten one costs speed alone. */
const REMEMBERED = 64;

/** Something loaded that calls share. */
interface Entry {
  /** Bytes that it takes of the budget. */
  bytes: number;
  /** Calls that use it. */
  users: number;
  /** Logical time of the last use. */
  usedAt: number;
  isEvicted: boolean;
  free(): void;
}

const unused = { users: 0, usedAt: 0, isEvicted: false } as const;

/** Entries in the order of their use. An evicted one is freed once nobody uses it. */
class LoadedEntries<Of extends Entry> {
  readonly all = new Set<Of>();
  readonly #onBytes: (bytes: number) => void;
  #time = 0;

  /** @param onBytes is told of the bytes of all entries whenever they change */
  constructor(onBytes: (bytes: number) => void) {
    this.#onBytes = onBytes;
  }

  get bytes(): number {
    return [...this.all].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Returns a new logical time. */
  tick(): number {
    return ++this.#time;
  }

  add(entry: Of): Of {
    this.all.add(entry);
    this.#onBytes(this.bytes);
    return entry;
  }

  /** Keeps an entry from being freed until `release`. */
  hold(entry: Of): void {
    entry.users++;
  }

  use(entry: Of): Of {
    this.hold(entry);
    entry.usedAt = this.tick();
    return entry;
  }

  release(entry: Of): void {
    entry.users--;
    if (entry.isEvicted && entry.users === 0) entry.free();
  }

  /** Returns the entries that nobody uses, the least recently used one first. */
  idle(): Of[] {
    return [...this.all].filter(({ users }) => users === 0).sort((left, right) => left.usedAt - right.usedAt);
  }

  /** Removes an entry without freeing it. */
  forget(entry: Of): void {
    if (this.all.delete(entry)) this.#onBytes(this.bytes);
  }

  evict(entry: Of): void {
    this.forget(entry);
    entry.isEvicted = true;
    if (entry.users === 0) entry.free();
  }
}

interface PointsEntry extends Entry {
  readonly engine: Engine;
  readonly bases: Bases;
  /** The points, as they were passed in. */
  readonly points: Uint8Array;
  /**
   * Logical time of the last use before an eviction after which the points were loaded again; null
   * after a hit.
   */
  evictedUseAt: number | null;
}

/** Counts of a bases cache. */
export interface BasesCacheStats {
  /** Calls whose points were loaded already. */
  hits: number;
  /** Loads of points. */
  loads: number;
  /** Loaded points that were evicted to stay within the budget. */
  evictions: number;
  /** Bytes of points that are loaded. */
  bytes: number;
}

/** Evicted points, remembered to recognise them when they are loaded again. */
interface Evicted {
  readonly engine: Engine;
  readonly mark: string;
  readonly bytes: number;
  readonly usedAt: number;
}

/**
 * An engine that is open or opening. The promise is the key of its points, so each engine has one
 * promise.
 */
type Engine = Promise<MsmEngine<Coordinate>>;

/**
 * The points that one prover has loaded, of all groups, within one budget. Evicts the least
 * recently used points first, with one exception: if more points than fit are used in turn, LRU
 * would evict each before its next use. So points that were evicted and loaded again are evicted
 * first if all others were used since their last use, and the rest stays.
 */
export class BasesCache {
  readonly #budget: CacheBudget;
  readonly #stats: BasesCacheStats;
  readonly #loaded: LoadedEntries<PointsEntry>;
  /**
   * The last load of each engine. Loads of an engine run one after the other, so that no points are
   * loaded twice.
   */
  readonly #loading = new Map<Engine, Promise<unknown>>();
  readonly #signal: AbortSignal | undefined;
  #evicted: readonly Evicted[] = [];

  /** @param signal aborts all loads */
  constructor(budget: CacheBudget, stats: BasesCacheStats, signal?: AbortSignal) {
    this.#budget = budget;
    this.#stats = stats;
    this.#signal = signal;
    this.#loaded = new LoadedEntries((bytes) => {
      stats.bytes = bytes;
    });
  }

  /**
   * Calls `use` with the given points, and loads them first if needed. Compares or copies the
   * points before it returns, so the caller may change them afterwards.
   */
  async with<Result>(engine: Engine, given: FfBytes, use: (bases: Bases) => Promise<Result>): Promise<Result> {
    return this.#using(this.#find(engine, given) ?? (await this.#load(engine, copyOf(given))), use);
  }

  /**
   * The same for points of a file, which are read chunk by chunk: compared with loaded points, or
   * else loaded.
   */
  async withFile<Result>(engine: Engine, file: PointFile, use: (bases: Bases) => Promise<Result>): Promise<Result> {
    return this.#using(await this.#read(engine, file), use);
  }

  /** Calls `use` with the points of an entry that counts as used, and releases it. */
  async #using<Result>(entry: PointsEntry, use: (bases: Bases) => Promise<Result>): Promise<Result> {
    try {
      return await use(entry.bases);
    } finally {
      this.#release(entry);
    }
  }

  async #read(engine: Engine, file: PointFile): Promise<PointsEntry> {
    const found = await this.#findFile(engine, file);
    if (found !== null) return found;
    return this.#inOrder(engine, async () => {
      const [other, checkpoint] = [await this.#findFile(engine, file), () => assertNotAborted(this.#signal)];
      return other ?? this.#loadNow(engine, await readAll(file, checkpoint));
    });
  }

  /**
   * Returns loaded points that begin with the file, or null. Candidates stay loaded while the file
   * is read.
   */
  async #findFile(engine: Engine, file: PointFile): Promise<PointsEntry | null> {
    let left = this.#of(engine).filter(({ points }) => points.length >= file.byteLength);
    for (const each of left) this.#loaded.hold(each);
    try {
      await readWhile(
        file,
        (chunk, at) => {
          assertNotAborted(this.#signal);
          const isSame = ({ points }: PointsEntry): boolean => beginsWith(points.subarray(at), chunk);
          const [same, others] = [left.filter(isSame), left.filter((each) => !isSame(each))];
          left = same;
          for (const each of others) this.#release(each);
          return left.length > 0;
        },
        left.length > 0,
      );
      const [found] = left.filter(({ isEvicted }) => !isEvicted);
      return found === undefined ? null : this.#hit(found);
    } finally {
      for (const each of left) this.#release(each);
    }
  }

  #of(engine: Engine): PointsEntry[] {
    return [...this.#loaded.all].filter((entry) => entry.engine === engine);
  }

  #release(entry: PointsEntry): void {
    this.#loaded.release(entry);
    this.#makeRoom();
  }

  /**
   * Returns loaded points that begin with the given ones, or null. Adds a use at once, so that they
   * are not evicted.
   */
  #find(engine: Engine, given: FfBytes): PointsEntry | null {
    const found = this.#of(engine).find(({ points }) => beginsWith(points, given));
    return found === undefined ? null : this.#hit(found);
  }

  #hit(entry: PointsEntry): PointsEntry {
    this.#stats.hits++;
    this.#loaded.use(entry);
    entry.evictedUseAt = null;
    return entry;
  }

  #load(engine: Engine, points: FfBytes): Promise<PointsEntry> {
    // a load before this one may have loaded the same points
    return this.#inOrder(engine, async () => this.#find(engine, points) ?? this.#loadNow(engine, points));
  }

  #inOrder(engine: Engine, work: () => Promise<PointsEntry>): Promise<PointsEntry> {
    const load = (this.#loading.get(engine) ?? Promise.resolve()).then(work, work);
    this.#loading.set(engine, load);
    return load;
  }

  /** @param given a private copy */
  async #loadNow(engine: Engine, given: FfBytes): Promise<PointsEntry> {
    const signal = this.#signal;
    const taken = given instanceof Uint8Array ? handOver(given) : given;
    const bases = await (await engine).loadBases(taken, { encoding: 'le-montgomery', ...(signal && { signal }) });
    const points = bytesOf(bases);
    this.#stats.loads++;
    // entries that are a beginning of the new one are of no more use
    for (const each of this.#of(engine)) if (beginsWith(points, each.points)) this.#loaded.evict(each);
    const mark = markOf(points);
    const isThis = (each: Evicted): boolean => each.engine === engine && each.mark === mark;
    const evictedUseAt = this.#evicted.find(isThis)?.usedAt ?? null;
    this.#evicted = this.#evicted.filter((each) => !isThis(each));
    const free = (): void => bases.destroy();
    const entry = this.#loaded.add({ ...unused, engine, bases, points, bytes: points.length, evictedUseAt, free });
    return this.#loaded.use(entry);
  }

  /** Evicts unused entries until the rest is within the budget. */
  #makeRoom(): void {
    const budget = this.#budget.bytes();
    while (this.#loaded.bytes > budget) {
      const idle = this.#loaded.idle();
      const [oldest] = idle;
      if (oldest === undefined) return;
      const cycling = idle.find(({ evictedUseAt }) => evictedUseAt !== null && evictedUseAt <= oldest.usedAt);
      if (cycling !== undefined) this.#budget.onTight(this.#usedSince(cycling.evictedUseAt as number));
      const entry = cycling ?? oldest;
      this.#loaded.evict(entry);
      this.#stats.evictions++;
      const { engine, bytes, usedAt } = entry;
      this.#evicted = [{ engine, mark: markOf(entry.points), bytes, usedAt }, ...this.#evicted].slice(0, REMEMBERED);
    }
  }

  /** Returns the bytes of all points used after a logical time, evicted ones included. */
  #usedSince(time: number): number {
    return [...this.#loaded.all, ...this.#evicted].reduce(
      (sum, { bytes, usedAt }) => sum + (usedAt > time ? bytes : 0),
      0,
    );
  }

  /**
   * Empties the cache without destroying bases: the owner destroys the engines, and with them their
   * bases.
   */
  clear(): void {
    for (const entry of this.#loaded.all) this.#loaded.forget(entry);
    this.#loading.clear();
    this.#evicted = [];
  }
}

/** Entries: one for each of two proofs that run at a time. */
const CAPACITY = 2;

/**
 * How long scalars stay loaded while no MSM uses any, in ms. The next MSM of a proof starts sooner.
 * A witness is a secret and takes memory, so it does not stay for longer.
 */
const IDLE_MS = 10_000;

interface ScalarsEntry extends Entry {
  readonly curve: FfCurveName;
  readonly scalars: LoadedScalars;
}

/** The last scalars: several MSMs of a proof have the same scalars, or a tail of them. */
export class ScalarsCache {
  readonly #loaded = new LoadedEntries<ScalarsEntry>(() => undefined);
  readonly #counts: { sharedScalars: number };
  readonly #signal: AbortSignal | undefined;
  #users = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** @param signal aborts all loads */
  constructor(counts: { sharedScalars: number }, signal: AbortSignal | undefined) {
    this.#counts = counts;
    this.#signal = signal;
  }

  /**
   * Calls `use` with the given scalars, and loads them first if needed.
   *
   * @param given scalars of 32 bytes each, little-endian
   */
  async with<Result>(
    engine: MsmEngine<Coordinate>,
    curve: FfCurveName,
    given: FfBytes,
    use: (scalars: Scalars) => Promise<Result>,
  ): Promise<Result> {
    clearTimeout(this.#idle);
    this.#users++;
    try {
      return await this.#with(engine, curve, given, use);
    } finally {
      if (--this.#users === 0) {
        this.#idle = setTimeout(() => this.clear(), IDLE_MS);
        // in Node, lets a process end that waits for this timer alone
        (this.#idle as { unref?(): void }).unref?.();
      }
    }
  }

  async #with<Result>(
    engine: MsmEngine<Coordinate>,
    curve: FfCurveName,
    given: FfBytes,
    use: (scalars: Scalars) => Promise<Result>,
  ): Promise<Result> {
    for (const entry of this.#loaded.all) {
      const found = entry.curve === curve ? partOf(entry.scalars, given) : null;
      if (found === null) continue;
      this.#counts.sharedScalars++;
      return this.#use(entry, found, use);
    }
    const signal = this.#signal;
    const scalars = (await engine.loadScalars(given, { ...(signal && { signal }) })) as LoadedScalars;
    const free = (): void => scalars.destroy();
    return this.#use(this.#loaded.add({ ...unused, curve, scalars, bytes: given.byteLength, free }), scalars, use);
  }

  async #use<Result>(
    entry: ScalarsEntry,
    scalars: Scalars,
    use: (scalars: Scalars) => Promise<Result>,
  ): Promise<Result> {
    this.#loaded.use(entry);
    const byUse = [...this.#loaded.all].sort((left, right) => right.usedAt - left.usedAt);
    for (const each of byUse.slice(CAPACITY)) this.#loaded.evict(each);
    try {
      return await use(scalars);
    } finally {
      this.#loaded.release(entry);
    }
  }

  /** Destroys all scalars. */
  clear(): void {
    for (const entry of this.#loaded.all) this.#loaded.evict(entry);
  }
}

/** Counts of a key cache. */
export interface KeyCacheCounts {
  /** Keys that were loaded for whole proofs. */
  keyLoads: number;
  /** Bytes of keys that stay loaded for whole proofs: their points and matrices. */
  keyBytes: number;
}

const LEFT = 'left to snarkjs';

/** Returns an error that leaves a proof or an MSM to snarkjs for a reason that is no failure. */
export const leftToSnarkjs = (reason: string): Error => Object.assign(new Error(reason), { name: LEFT });

/** Returns whether an error is one of `leftToSnarkjs`. */
export const isLeftToSnarkjs = (error: unknown): boolean => error instanceof Error && error.name === LEFT;

/** Failures that a second load of the same key would repeat. */
const lasting: readonly string[] = ['bad-argument', 'not-on-curve'];

interface KeyEntry<Key> extends Entry {
  readonly name: string;
  readonly key: Promise<Key>;
  /** True if it is freed after the proofs that use it, as it finds no room. */
  readonly isPassing: boolean;
}

/** A key to be found or loaded. */
export interface KeyRequest<Key> {
  /** Sets keys apart that are opened by different functions. */
  readonly kind: string;
  readonly file: KeySource;
  /** Returns the bytes that the key takes when it is loaded. */
  bytes(): Promise<number>;
  open(): Promise<Key>;
}

/**
 * Keys within one budget. Two keys that do not fit together and are used in turn would evict each
 * other before each proof. So a key that returns displaces only keys that were not used since its
 * last request.
 */
export class KeyCache<Key extends { destroy(): void }> {
  readonly #budget: CacheBudget;
  readonly #counts: KeyCacheCounts;
  readonly #loaded: LoadedEntries<KeyEntry<Key>>;
  /** Logical times of the last requests by name, the latest at the end. */
  readonly #requestedAt = new Map<string, number>();

  constructor(budget: CacheBudget, counts: KeyCacheCounts) {
    this.#budget = budget;
    this.#counts = counts;
    this.#loaded = new LoadedEntries((bytes) => {
      counts.keyBytes = bytes;
    });
  }

  /**
   * Calls `use` with a key, and loads it first if needed. A key that finds no room is freed after
   * the calls that use it; so is one with a proof that does not verify, as the key may be damaged.
   *
   * @throws errors of `open` and `use`
   */
  async with<Result>(request: KeyRequest<Key>, use: (key: Key) => Promise<Result>): Promise<Result> {
    const entry = (await this.#entryOf(request, true)) as KeyEntry<Key>;
    this.#loaded.use(entry);
    try {
      return await use(await entry.key);
    } catch (error) {
      if (isUnverified(error)) this.#loaded.evict(entry);
      throw error;
    } finally {
      this.#loaded.release(entry);
      if (entry.isPassing && !entry.isEvicted && entry.users === 0) this.#loaded.evict(entry);
    }
  }

  /** Loads a key if it finds room. @throws errors of `open` */
  async prepare(request: KeyRequest<Key>): Promise<void> {
    await (await this.#entryOf(request, false))?.key;
  }

  /** @param mayPass false to return null for a key that finds no room */
  async #entryOf(request: KeyRequest<Key>, mayPass: boolean): Promise<KeyEntry<Key> | null> {
    const name = await nameOf(request);
    const last = this.#requestedAt.get(name) ?? Number.POSITIVE_INFINITY;
    this.#remember(name);
    const find = (): KeyEntry<Key> | undefined => [...this.#loaded.all].find((each) => each.name === name);
    const found = find();
    if (found !== undefined) return found;
    const bytes = await request.bytes();
    // another call may have loaded it meanwhile
    const late = find();
    if (late !== undefined) return late;
    const hasRoom = this.#makeRoom(bytes, last);
    return hasRoom || mayPass ? this.#load(name, request, hasRoom ? bytes : null) : null;
  }

  #remember(name: string): void {
    this.#requestedAt.delete(name);
    this.#requestedAt.set(name, this.#loaded.tick());
    const [oldest] = this.#requestedAt.keys();
    if (this.#requestedAt.size > REMEMBERED) this.#requestedAt.delete(oldest as string);
  }

  /** @param bytes that the key takes; null if it finds no room */
  #load(name: string, request: KeyRequest<Key>, bytes: number | null): KeyEntry<Key> {
    const key = this.#open(name, request);
    const free = (): void =>
      void key.then(
        (each) => each.destroy(),
        () => undefined,
      );
    const isPassing = bytes === null;
    const entry = this.#loaded.add({ ...unused, name, key, bytes: bytes ?? 0, isPassing, free });
    key.catch((error: unknown) => {
      if (!this.#loaded.all.has(entry)) return;
      // a lasting failure stays, and takes no room
      this.#loaded.forget(entry);
      entry.bytes = 0;
      const isLasting = isLeftToSnarkjs(error) || (error instanceof MsmError && lasting.includes(error.code));
      if (isLasting) this.#loaded.add(entry);
    });
    return entry;
  }

  async #open(name: string, request: KeyRequest<Key>): Promise<Key> {
    const key = await request.open();
    try {
      // other contents under this name would make wrong proofs later
      if ((await nameOf(request)) !== name) throw badArgument('zkey: it changed while it was loaded');
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
   * @returns false if they do not fit
   */
  #makeRoom(bytes: number, before: number): boolean {
    const [budget, used] = [this.#budget.bytes(), this.#loaded.bytes];
    const idle = this.#loaded.idle().filter((entry) => entry.bytes > 0 && entry.usedAt < before);
    const evictable = idle.reduce((sum, entry) => sum + entry.bytes, 0);
    if (used - evictable + bytes > budget) {
      this.#budget.onTight(used + bytes);
      return false;
    }
    for (const entry of idle) if (this.#loaded.bytes + bytes > budget) this.#loaded.evict(entry);
    return true;
  }

  /** Destroys all keys, those that are still loading as soon as they are loaded. */
  clear(): void {
    for (const entry of this.#loaded.all) {
      this.#loaded.forget(entry);
      entry.free();
    }
  }
}

const nameOf = async ({ kind, file }: Pick<KeyRequest<never>, 'kind' | 'file'>): Promise<string> =>
  `${kind} ${await file.identify()}`;

/**
 * Returns the points of bases as they were passed in. Engines retain them, for lost devices and for
 * the CPU.
 */
const bytesOf = (bases: Bases): Uint8Array => {
  const { source } = bases as Bases & { readonly source: PointSource | null };
  if (source === null) throw new MsmError('internal', 'the bases do not retain their points');
  return source.bytes;
};

/** Bytes at each end that tell evicted points apart. A wrong match costs speed alone. */
const MARK_BYTES = 64;

const markOf = (bytes: Uint8Array): string =>
  `${bytes.length} ${bytes.subarray(0, MARK_BYTES)} ${bytes.subarray(-MARK_BYTES)}`;

/**
 * Returns the range of `scalars` that equals the given scalars, if they are a beginning or an end
 * of them; else null.
 */
const partOf = (scalars: LoadedScalars, given: FfBytes): Scalars | null => {
  const { bytes, length } = scalars;
  const count = (given.byteLength * length) / bytes.length;
  if (beginsWith(bytes, given)) return scalars.subarray(0, count);
  return count < length && beginsWith(bytes.subarray(-given.byteLength), given)
    ? scalars.subarray(length - count)
    : null;
};

/** A source of points. */
export interface PointFile {
  readonly byteLength: number;
  readonly pointBytes: number;
  readonly read: PointReader;
}

/**
 * Bytes of the first chunk, which mostly tells whether the points are loaded already, and of later
 * chunks.
 */
const [FIRST_BYTES, CHUNK_BYTES] = [2 ** 16, 2 ** 22];

/**
 * Reads points chunk by chunk from the first one on, until `look` returns false.
 *
 * @param wantsMore false: read nothing
 * @throws MsmError `bad-argument` if the reader returns a chunk of a wrong length; and errors of
 * the reader
 */
const readWhile = async (
  { byteLength, pointBytes, read }: PointFile,
  look: (chunk: Uint8Array, at: number) => boolean,
  wantsMore = true,
): Promise<void> => {
  for (let at = 0; wantsMore && at < byteLength; ) {
    const most = Math.floor((at === 0 ? FIRST_BYTES : CHUNK_BYTES) / pointBytes) * pointBytes;
    const length = Math.min(most, byteLength - at);
    const chunk = await read(at, length);
    if (!(chunk instanceof Uint8Array) || chunk.length !== length)
      throw badArgument(
        `points: the reader returned ${chunk?.length} bytes for [${at}, ${at + length}); it must return ${length}`,
      );
    wantsMore = look(chunk, at);
    at += length;
  }
};

/**
 * Reads all points into one array.
 *
 * @param checkpoint called before each chunk is stored; its errors end the reading
 */
const readAll = async (file: PointFile, checkpoint: () => void): Promise<Uint8Array> => {
  const all = roomFor('points', file.byteLength, 1, 'bytes');
  await readWhile(file, (chunk, at) => {
    checkpoint();
    all.set(chunk, at);
    return true;
  });
  return all;
};

/** Bytes of paged points that are compared at a time. */
const PAGE_BYTES = 2 ** 22;

/**
 * Returns whether two arrays of one length are equal. Compares words of 32 bits where both are
 * aligned.
 */
const areSame = (left: Uint8Array, right: Uint8Array): boolean => {
  const words = (bytes: Uint8Array): Uint32Array | null =>
    bytes.byteOffset % 4 === 0 ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) : null;
  const [ours, theirs] = [words(left), words(right)];
  let at = 0;
  if (ours !== null && theirs !== null) {
    for (let i = 0; i < ours.length; i++) if (ours[i] !== theirs[i]) return false;
    at = 4 * ours.length;
  }
  for (; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
};

/**
 * Returns whether `held` begins with the given bytes. Compares all bytes, because a near-match
 * would produce a wrong proof. Other points mostly differ in the first words, so the comparison
 * ends early.
 */
export const beginsWith = (held: Uint8Array, given: FfBytes): boolean => {
  const { byteLength } = given;
  if (byteLength > held.length) return false;
  if (given instanceof Uint8Array) return areSame(held.subarray(0, byteLength), given);
  for (let from = 0; from < byteLength; from += PAGE_BYTES) {
    const to = Math.min(byteLength, from + PAGE_BYTES);
    const { buffer, byteOffset, byteLength: length } = given.slice(from, to);
    if (!areSame(held.subarray(from, to), new Uint8Array(buffer, byteOffset, length))) return false;
  }
  return true;
};
