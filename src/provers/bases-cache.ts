/**
 * Caches of loaded points and scalars, found by comparing bytes: provers read the same sections of a
 * file again for each proof, and several MSMs of a proof have the same scalars, or a tail of them.
 */
import type { Bases, MsmEngine, Scalars } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { PointSource } from '../curves/point-source.js';
import { handOver, roomFor } from '../engine/arguments.js';
import { assertNotAborted, badArgument, MsmError } from '../errors.js';
import type { LoadedScalars } from '../msm/inputs/scalars.js';
import { copyOf, type FfBytes, type FfCurveName, type PointReader } from './ffjavascript.js';

/**
 * Returns the points of bases as they were passed in. Engines retain them, for lost devices and for
 * the CPU.
 */
const bytesOf = (bases: Bases): Uint8Array => {
  const { source } = bases as Bases & { readonly source: PointSource | null };
  if (source === null) throw new MsmError('internal', 'the bases do not retain their points');
  return source.bytes;
};

/** Bases of the cache. */
export interface CachedBases {
  readonly bases: Bases;
  /** The points, as they were passed in. */
  readonly bytes: Uint8Array;
}

interface Entry extends CachedBases {
  /** Calls that use the entry. */
  users: number;
  /** Logical time of the last use. */
  usedAt: number;
  /**
   * Logical time of the last use before an eviction after which the points were loaded again; null
   * after a hit.
   */
  evictedUseAt: number | null;
  /** True once the entry is out of the cache, to be destroyed with the end of its last use. */
  isEvicted: boolean;
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
  readonly length: number;
  readonly usedAt: number;
}

/** Evictions that are remembered. */
const REMEMBERED = 64;

/** Bytes at each end that tell evicted points apart. A wrong match costs speed alone. */
const MARK_BYTES = 64;

const markOf = (bytes: Uint8Array): string =>
  `${bytes.length} ${bytes.subarray(0, MARK_BYTES)} ${bytes.subarray(-MARK_BYTES)}`;

/** The size of a bases cache. */
export interface BasesBudget {
  /** Returns the budget in bytes. Asked before every eviction. */
  bytes(): number;
  /**
   * Called when evicted points had to be loaded again; `bytes` would have held all points used
   * since their last use.
   */
  onTight(bytes: number): void;
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
  readonly #budget: BasesBudget;
  readonly #stats: BasesCacheStats;
  readonly #entries = new Map<Engine, Entry[]>();
  /**
   * The last load of each engine. Loads of an engine run one after the other, so that no points are
   * loaded twice.
   */
  readonly #loading = new Map<Engine, Promise<unknown>>();
  readonly #signal: AbortSignal | undefined;
  #evicted: readonly Evicted[] = [];
  #clock = 0;

  /** @param signal aborts all loads */
  constructor(budget: BasesBudget, stats: BasesCacheStats, signal?: AbortSignal) {
    this.#budget = budget;
    this.#stats = stats;
    this.#signal = signal;
  }

  /**
   * Calls `use` with the given points, and loads them first if needed. Compares or copies the
   * points before it returns, so the caller may change them afterwards.
   */
  async with<Result>(engine: Engine, given: FfBytes, use: (bases: Bases) => Promise<Result>): Promise<Result> {
    const entry = this.#find(engine, given) ?? (await this.#load(engine, copyOf(given)));
    try {
      return await use(entry.bases);
    } finally {
      this.#release(entry);
    }
  }

  /**
   * The same for points of a file, which are read chunk by chunk: compared with loaded points, or
   * else loaded.
   */
  async withFile<Result>(engine: Engine, file: PointFile, use: (bases: Bases) => Promise<Result>): Promise<Result> {
    const entry = await this.#read(engine, file);
    try {
      return await use(entry.bases);
    } finally {
      this.#release(entry);
    }
  }

  async #read(engine: Engine, file: PointFile): Promise<Entry> {
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
  async #findFile(engine: Engine, file: PointFile): Promise<Entry | null> {
    let left = (this.#entries.get(engine) ?? []).filter(({ bytes }) => bytes.length >= file.byteLength);
    for (const each of left) each.users++;
    try {
      await readWhile(
        file,
        (chunk, at) => {
          assertNotAborted(this.#signal);
          const isSame = ({ bytes }: Entry): boolean => beginsWith(bytes.subarray(at), chunk);
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

  #release(entry: Entry): void {
    entry.users--;
    if (entry.isEvicted && entry.users === 0) entry.bases.destroy();
    this.#makeRoom();
  }

  /**
   * Returns loaded points that begin with the given ones, or null. Adds a use at once, so that they
   * are not evicted.
   */
  #find(engine: Engine, given: FfBytes): Entry | null {
    const found = this.#entries.get(engine)?.find(({ bytes }) => beginsWith(bytes, given));
    return found === undefined ? null : this.#hit(found);
  }

  #hit(entry: Entry): Entry {
    this.#stats.hits++;
    entry.users++;
    entry.usedAt = ++this.#clock;
    entry.evictedUseAt = null;
    return entry;
  }

  #load(engine: Engine, points: FfBytes): Promise<Entry> {
    // a load before this one may have loaded the same points
    return this.#inOrder(engine, async () => this.#find(engine, points) ?? this.#loadNow(engine, points));
  }

  #inOrder(engine: Engine, work: () => Promise<Entry>): Promise<Entry> {
    const load = (this.#loading.get(engine) ?? Promise.resolve()).then(work, work);
    this.#loading.set(engine, load);
    return load;
  }

  /** @param points a private copy */
  async #loadNow(engine: Engine, points: FfBytes): Promise<Entry> {
    const signal = this.#signal;
    const own = points instanceof Uint8Array ? handOver(points) : points;
    const bases = await (await engine).loadBases(own, { encoding: 'le-montgomery', ...(signal && { signal }) });
    const bytes = bytesOf(bases);
    this.#stats.loads++;
    this.#stats.bytes += bytes.length;
    // entries that are a beginning of the new one are of no more use
    const shorter = this.#entries.get(engine)?.filter((each) => beginsWith(bytes, each.bytes)) ?? [];
    for (const each of shorter) this.#evict(each);
    const mark = markOf(bytes);
    const isThis = (each: Evicted): boolean => each.engine === engine && each.mark === mark;
    const evictedUseAt = this.#evicted.find(isThis)?.usedAt ?? null;
    this.#evicted = this.#evicted.filter((each) => !isThis(each));
    const entry: Entry = { bases, bytes, users: 1, usedAt: ++this.#clock, evictedUseAt, isEvicted: false };
    this.#entries.set(engine, [...(this.#entries.get(engine) ?? []), entry]);
    return entry;
  }

  /** Evicts unused entries until the rest is within the budget. */
  #makeRoom(): void {
    const budget = this.#budget.bytes();
    while (this.#stats.bytes > budget) {
      const unused = [...this.#entries].flatMap(([engine, entries]) =>
        entries.filter(({ users }) => users === 0).map((entry) => ({ engine, entry })),
      );
      unused.sort((left, right) => left.entry.usedAt - right.entry.usedAt);
      const [oldest] = unused;
      if (oldest === undefined) return;
      const cycles = ({ entry }: typeof oldest): boolean =>
        entry.evictedUseAt !== null && entry.evictedUseAt <= oldest.entry.usedAt;
      const cycling = unused.find(cycles);
      if (cycling !== undefined) this.#budget.onTight(this.#usedSince(cycling.entry.evictedUseAt as number));
      const { engine, entry } = cycling ?? oldest;
      this.#evict(entry);
      this.#stats.evictions++;
      const evicted = { engine, mark: markOf(entry.bytes), length: entry.bytes.length, usedAt: entry.usedAt };
      this.#evicted = [evicted, ...this.#evicted].slice(0, REMEMBERED);
    }
  }

  /** Returns the bytes of all points used after a logical time, evicted ones included. */
  #usedSince(time: number): number {
    const loaded = [...this.#entries.values()].flat().map(({ bytes, usedAt }) => ({ length: bytes.length, usedAt }));
    return [...loaded, ...this.#evicted].reduce((sum, { length, usedAt }) => sum + (usedAt > time ? length : 0), 0);
  }

  #evict(entry: Entry): void {
    for (const [engine, entries] of this.#entries) {
      if (!entries.includes(entry)) continue;
      this.#entries.set(
        engine,
        entries.filter((each) => each !== entry),
      );
      this.#stats.bytes -= entry.bytes.length;
    }
    entry.isEvicted = true;
    if (entry.users === 0) entry.bases.destroy();
  }

  /**
   * Empties the cache without destroying bases: the owner destroys the engines, and with them their
   * bases.
   */
  clear(): void {
    this.#entries.clear();
    this.#loading.clear();
    this.#evicted = [];
    this.#stats.bytes = 0;
  }
}

/** Entries: one for each of two proofs that run at a time. */
const CAPACITY = 2;

/**
 * How long scalars stay loaded while no MSM uses any, in ms. The next MSM of a proof starts sooner.
 * A witness is a secret and takes memory, so it does not stay for longer.
 */
const IDLE_MS = 10_000;

interface ScalarsEntry {
  readonly curve: FfCurveName;
  readonly scalars: LoadedScalars;
}

export class ScalarsCache {
  /** Most recently used first. */
  #entries: readonly ScalarsEntry[] = [];
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
   * @param use must pass the scalars on before it awaits anything
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
    for (const entry of this.#entries) {
      const found = entry.curve === curve ? partOf(entry.scalars, given) : null;
      if (found === null) continue;
      this.#counts.sharedScalars++;
      this.#store(entry);
      return use(found);
    }
    const signal = this.#signal;
    const scalars = (await engine.loadScalars(given, { ...(signal && { signal }) })) as LoadedScalars;
    this.#store({ curve, scalars });
    return use(scalars);
  }

  #store(entry: ScalarsEntry): void {
    const entries = [entry, ...this.#entries.filter((each) => each !== entry)];
    for (const { scalars } of entries.slice(CAPACITY)) scalars.destroy();
    this.#entries = entries.slice(0, CAPACITY);
  }

  /** Destroys all scalars. */
  clear(): void {
    for (const { scalars } of this.#entries) scalars.destroy();
    this.#entries = [];
  }
}

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
