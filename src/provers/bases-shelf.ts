/** Points that were loaded, and are found again by what they are: provers read the same sections of a file anew for each proof. */
import type { Bases, Coordinate, MsmEngine } from '../api.js';
import type { PointSource } from '../curves/point-source.js';
import { MsmError } from '../errors.js';
import { copyOf, type FfBytes } from './ffjavascript.js';

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

/** An engine that is open, or is being opened. Always the same promise: it is what points are kept by. */
type Engine = Promise<MsmEngine<Coordinate>>;

/** All that one prover has loaded, of all groups, within one budget; the longest unused goes first. */
export class BasesShelf {
  readonly #budget: number;
  readonly #stats: ShelfStats;
  readonly #entries = new Map<Engine, Entry[]>();
  /** By engine: one looks and loads at a time, so that nothing is loaded twice. */
  readonly #turns = new Map<Engine, Promise<unknown>>();
  readonly #signal: AbortSignal | undefined;
  #clock = 0;

  /**
   * @param budget bytes
   * @param signal ends loads, for all who wait for them
   */
  constructor(budget: number, stats: ShelfStats, signal?: AbortSignal) {
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

  /** Loads points that nobody changes, if they are not there. */
  async load(engine: Engine, points: FfBytes): Promise<void> {
    this.#leave(this.#find(engine, points) ?? (await this.#load(engine, points)));
  }

  #leave(entry: Entry): void {
    entry.users--;
    if (entry.isOff && entry.users === 0) entry.bases.destroy();
    this.#makeRoom();
  }

  /** Points that are there, with one user more: before anybody else may make room of them. */
  #find(engine: Engine, given: FfBytes): Entry | null {
    const found = this.#entries.get(engine)?.find(({ bytes }) => beginsWith(bytes, given));
    if (found === undefined) return null;
    this.#stats.hits++;
    found.users++;
    found.usedAt = ++this.#clock;
    return found;
  }

  #load(engine: Engine, points: FfBytes): Promise<Entry> {
    // whoever had a turn before may have loaded them
    const work = async (): Promise<Entry> => this.#find(engine, points) ?? this.#loadAnew(engine, points);
    const turn = (this.#turns.get(engine) ?? Promise.resolve()).then(work, work);
    this.#turns.set(engine, turn);
    return turn;
  }

  async #loadAnew(engine: Engine, points: FfBytes): Promise<Entry> {
    const signal = this.#signal;
    const bases = await (await engine).loadBases(points, { encoding: 'le-montgomery', ...(signal && { signal }) });
    const bytes = bytesOf(bases);
    this.#stats.loads++;
    this.#stats.bytes += bytes.length;
    // a beginning of these is of no more use
    const shorter = this.#entries.get(engine)?.filter((each) => beginsWith(bytes, each.bytes)) ?? [];
    for (const each of shorter) this.#takeOff(each);
    const entry: Entry = { bases, bytes, users: 1, usedAt: ++this.#clock, isOff: false };
    this.#entries.set(engine, [...(this.#entries.get(engine) ?? []), entry]);
    return entry;
  }

  /** Takes off what nobody has, until what is there is within the budget. */
  #makeRoom(): void {
    const unused = [...this.#entries.values()].flat().filter(({ users }) => users === 0);
    for (const entry of unused.sort((left, right) => left.usedAt - right.usedAt)) {
      if (this.#stats.bytes <= this.#budget) return;
      this.#takeOff(entry);
      this.#stats.evictions++;
    }
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
    this.#stats.bytes = 0;
  }
}
