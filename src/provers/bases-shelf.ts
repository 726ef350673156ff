/** Points that were loaded, and are found again by what they are: provers read the same sections of a file anew for each proof. */
import type { MsmEngine } from '../api/engine.js';
import type { Bases } from '../api/handles.js';
import type { Coordinate } from '../api/values.js';
import type { PointSource } from '../curves/point-source.js';
import { handOver } from '../engine/bytes.js';
import { assertNotAborted, MsmError } from '../errors.js';
import { copyOf, type FfBytes } from './ffjavascript.js';
import { type PointFile, readAll, readWhile } from './point-file.js';

/** Bytes of pages that are compared at a time. */
const PAGE_BYTES = 2 ** 22;

/** Whether words are the same; whole words, and what is left. */
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
 * Whether `held` begins with what was given. All of it is compared: with points that are nearly the same a proof would be a wrong one. Others mostly differ
 * in the first words.
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

/** The points of bases as they were given: engines keep them, for devices that are lost and for the CPU. */
const bytesOf = (bases: Bases): Uint8Array => {
  const { source } = bases as Bases & { readonly source: PointSource | null };
  if (source === null) throw new MsmError('internal', 'the bases keep no points');
  return source.bytes;
};

/** Bases that are on a shelf. */
export interface Held {
  readonly bases: Bases;
  /** Of the points, as they were given. */
  readonly bytes: Uint8Array;
}

interface Entry extends Held {
  /** Calls that have it. */
  users: number;
  /** The larger, the later. */
  usedAt: number;
  /** When it was last used before it was taken off and had to be loaded again; null once it was found. */
  cameBackAt: number | null;
  /** To be destroyed when nobody has it any more. */
  isOff: boolean;
}

/** What shelves count. */
export interface ShelfStats {
  /** Calls whose points were there. */
  hits: number;
  /** Loads of points. */
  loads: number;
  /** Of these, taken off to stay within the budget. */
  evictions: number;
  /** Bytes of points that are there. */
  bytes: number;
}

/** Points that were taken off, for recognising that they come back. */
interface Gone {
  readonly engine: Engine;
  readonly mark: string;
  readonly length: number;
  readonly usedAt: number;
}

/** Points that were taken off and are remembered. */
const REMEMBERED = 64;

/** Bytes at either end that tell points apart where being wrong does no harm. */
const MARK_BYTES = 64;

const markOf = (bytes: Uint8Array): string =>
  `${bytes.length} ${bytes.subarray(0, MARK_BYTES)} ${bytes.subarray(-MARK_BYTES)}`;

/** How much a shelf may hold. */
export interface ShelfBudget {
  /** Bytes, asked for when something is to go. */
  bytes(): number;
  /** Called when points had to be loaded again that the budget had no room for; `bytes` would have been enough for all that were used meanwhile. */
  onTight(bytes: number): void;
}

/** An engine that is open, or is being opened. Always the same promise: it is what points are kept by. */
type Engine = Promise<MsmEngine<Coordinate>>;

/**
 * All that one prover has loaded, of all groups, within one budget. The longest unused goes first; but of points that are used in turn, more than fit, those
 * stay that do fit: what was taken off and comes back goes again, where all the rest was used since it was used last.
 */
export class BasesCache {
  readonly #budget: ShelfBudget;
  readonly #stats: ShelfStats;
  readonly #entries = new Map<Engine, Entry[]>();
  /** By engine: one looks and loads at a time, so that nothing is loaded twice. */
  readonly #turns = new Map<Engine, Promise<unknown>>();
  readonly #signal: AbortSignal | undefined;
  #gone: readonly Gone[] = [];
  #clock = 0;

  /** @param signal ends loads, for all who wait for them */
  constructor(budget: ShelfBudget, stats: ShelfStats, signal?: AbortSignal) {
    this.#budget = budget;
    this.#stats = stats;
    this.#signal = signal;
  }

  /**
   * Has something done with points that are loaded, or are now. They are read at once, so that whoever gave them may change them then: compared with what is
   * there, or else copied.
   */
  async with<Result>(engine: Engine, given: FfBytes, use: (bases: Bases) => Promise<Result>): Promise<Result> {
    const entry = this.#find(engine, given) ?? (await this.#load(engine, copyOf(given)));
    try {
      return await use(entry.bases);
    } finally {
      this.#leave(entry);
    }
  }

  /** The same with points that are read, each chunk of which is compared as it comes, or goes to its place in what is loaded. */
  async withFile<Result>(engine: Engine, file: PointFile, use: (bases: Bases) => Promise<Result>): Promise<Result> {
    const entry = await this.#read(engine, file);
    try {
      return await use(entry.bases);
    } finally {
      this.#leave(entry);
    }
  }

  async #read(engine: Engine, file: PointFile): Promise<Entry> {
    const found = await this.#recognise(engine, file);
    if (found !== null) return found;
    return this.#inTurn(engine, async () => {
      const [other, checkpoint] = [await this.#recognise(engine, file), () => assertNotAborted(this.#signal)];
      return other ?? this.#loadAnew(engine, await readAll(file, checkpoint));
    });
  }

  /** Points that are there, after all of the file was read. What is compared stays meanwhile. */
  async #recognise(engine: Engine, file: PointFile): Promise<Entry | null> {
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
          for (const each of others) this.#leave(each);
          return left.length > 0;
        },
        left.length > 0,
      );
      const [found] = left.filter(({ isOff }) => !isOff);
      return found === undefined ? null : this.#found(found);
    } finally {
      for (const each of left) this.#leave(each);
    }
  }

  #leave(entry: Entry): void {
    entry.users--;
    if (entry.isOff && entry.users === 0) entry.bases.destroy();
    this.#makeRoom();
  }

  /** Points that are there, with one user more: before anybody else may make room of them. */
  #find(engine: Engine, given: FfBytes): Entry | null {
    const found = this.#entries.get(engine)?.find(({ bytes }) => beginsWith(bytes, given));
    return found === undefined ? null : this.#found(found);
  }

  #found(entry: Entry): Entry {
    this.#stats.hits++;
    entry.users++;
    entry.usedAt = ++this.#clock;
    entry.cameBackAt = null;
    return entry;
  }

  #load(engine: Engine, points: FfBytes): Promise<Entry> {
    // whoever had a turn before may have loaded them
    return this.#inTurn(engine, async () => this.#find(engine, points) ?? this.#loadAnew(engine, points));
  }

  #inTurn(engine: Engine, work: () => Promise<Entry>): Promise<Entry> {
    const turn = (this.#turns.get(engine) ?? Promise.resolve()).then(work, work);
    this.#turns.set(engine, turn);
    return turn;
  }

  /** @param points which nobody else has */
  async #loadAnew(engine: Engine, points: FfBytes): Promise<Entry> {
    const signal = this.#signal;
    const own = points instanceof Uint8Array ? handOver(points) : points;
    const bases = await (await engine).loadBases(own, { encoding: 'le-montgomery', ...(signal && { signal }) });
    const bytes = bytesOf(bases);
    this.#stats.loads++;
    this.#stats.bytes += bytes.length;
    // a beginning of these is of no more use
    const shorter = this.#entries.get(engine)?.filter((each) => beginsWith(bytes, each.bytes)) ?? [];
    for (const each of shorter) this.#takeOff(each);
    const mark = markOf(bytes);
    const isThis = (each: Gone): boolean => each.engine === engine && each.mark === mark;
    const cameBackAt = this.#gone.find(isThis)?.usedAt ?? null;
    this.#gone = this.#gone.filter((each) => !isThis(each));
    const entry: Entry = { bases, bytes, users: 1, usedAt: ++this.#clock, cameBackAt, isOff: false };
    this.#entries.set(engine, [...(this.#entries.get(engine) ?? []), entry]);
    return entry;
  }

  /** Takes off what nobody has, until what is there is within the budget. */
  #makeRoom(): void {
    const budget = this.#budget.bytes();
    while (this.#stats.bytes > budget) {
      const unused = [...this.#entries].flatMap(([engine, entries]) =>
        entries.filter(({ users }) => users === 0).map((entry) => ({ engine, entry })),
      );
      unused.sort((left, right) => left.entry.usedAt - right.entry.usedAt);
      const [oldest] = unused;
      if (oldest === undefined) return;
      const isBack = ({ entry }: typeof oldest): boolean =>
        entry.cameBackAt !== null && entry.cameBackAt <= oldest.entry.usedAt;
      const back = unused.find(isBack);
      if (back !== undefined) this.#budget.onTight(this.#usedSince(back.entry.cameBackAt as number));
      const { engine, entry } = back ?? oldest;
      this.#takeOff(entry);
      this.#stats.evictions++;
      const gone = { engine, mark: markOf(entry.bytes), length: entry.bytes.length, usedAt: entry.usedAt };
      this.#gone = [gone, ...this.#gone].slice(0, REMEMBERED);
    }
  }

  /** Bytes of all that were used after a time. */
  #usedSince(time: number): number {
    const there = [...this.#entries.values()].flat().map(({ bytes, usedAt }) => ({ length: bytes.length, usedAt }));
    return [...there, ...this.#gone].reduce((sum, { length, usedAt }) => sum + (usedAt > time ? length : 0), 0);
  }

  #takeOff(entry: Entry): void {
    for (const [engine, entries] of this.#entries) {
      if (!entries.includes(entry)) continue;
      this.#entries.set(
        engine,
        entries.filter((each) => each !== entry),
      );
      this.#stats.bytes -= entry.bytes.length;
    }
    entry.isOff = true;
    if (entry.users === 0) entry.bases.destroy();
  }

  /** Forgets everything; who destroys the engines destroys what is on them. */
  clear(): void {
    this.#entries.clear();
    this.#turns.clear();
    this.#gone = [];
    this.#stats.bytes = 0;
  }
}
