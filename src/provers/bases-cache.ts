/**
 * A cache of loaded points, found by comparing bytes: provers read the same sections of a file
 * again for each proof.
 */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { PointSource } from '../curves/point-source.js';
import { handOver } from '../engine/arguments.js';
import { assertNotAborted, MsmError } from '../errors.js';
import { beginsWith } from './begins-with.js';
import { copyOf, type FfBytes } from './ffjavascript.js';
import { type PointFile, readAll, readWhile } from './point-file.js';

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
