/** Memory of vectors and tables, within a budget. */

import type { FieldOrder } from '../../api/fields.js';
import { MsmError } from '../../errors.js';
import { power, rootOfOrder } from '../../field/powers.js';
import { writePowers, writeTwiddles } from '../../wasm/vectors/transform-passes.js';
import { bytesOfVector, type VectorAt, type VectorSpace } from '../../wasm/vectors/vector-kernel.js';
import type { VectorExports } from '../../wasm/vectors/vector-loops.js';
import type { Phase, Phases } from '../../wasm/vectors/vector-program.js';
import type { OpenField } from '../program/open-field.js';

export class Arena {
  readonly field: OpenField;
  readonly memory: VectorSpace;
  readonly tables: TableCache;
  readonly #budget: number;
  #peak = 0;
  /** Threads that compute in the memory: work is cut for them. */
  threads = 1;

  /** @param known tables that exist */
  constructor(field: OpenField, memory: VectorSpace, budget: number, known?: TableCache) {
    this.field = field;
    this.memory = memory;
    this.#budget = budget;
    this.tables = new TableCache(this, known);
    this.#peak = memory.used;
  }

  /** Returns an arena that has the same vectors and tables, and only counts. */
  planned(): Arena {
    return new Arena(this.field, new PlannedSpace(this.memory), this.#budget, this.tables);
  }

  /** Bytes of an element. */
  get bytes(): number {
    return this.memory.elementBytes;
  }

  get used(): number {
    return this.memory.used;
  }

  get peak(): number {
    return this.#peak;
  }

  /** Reserves a vector. Tables make room for it. @throws MsmError `out-of-memory` */
  take(elements: number): VectorAt {
    const bytes = elements * this.bytes;
    if (this.used + bytes > this.#budget) this.tables.clear();
    if (this.used + bytes > this.#budget) {
      throw new MsmError(
        'out-of-memory',
        `a vector of ${elements} elements takes ${bytes} bytes, and ${this.used} of memoryBudget ${this.#budget} are used`,
      );
    }
    try {
      const at = this.memory.take(elements);
      this.#peak = Math.max(this.#peak, this.used);
      return at;
    } catch (cause) {
      throw new MsmError('out-of-memory', `the platform has no ${bytes} bytes for ${elements} elements`, { cause });
    }
  }

  release(at: VectorAt, elements: number): void {
    this.memory.release(at, elements);
  }

  /**
   * Returns how many of `length` elements a call takes, a power of two: a time slice has several
   * calls, and each thread some.
   */
  grain(length: number): number {
    if (this.threads === 1) return MOST_AT_ONCE;
    const share = 2 ** Math.floor(Math.log2(Math.max(1, length / (CALLS_OF_A_THREAD * this.threads))));
    return Math.min(MOST_AT_ONCE, Math.max(LEAST_AT_ONCE, share));
  }
}

/** Elements of one call. Fewer than the least take longer to hand out than threads save. */
const [LEAST_AT_ONCE, MOST_AT_ONCE] = [2 ** 9, 2 ** 13];

/** Calls that each thread has of a phase, at least where the phase is large. */
const CALLS_OF_A_THREAD = 4;

/* Twiddles and powers that later runs use again. */

/** Powers that are kept at most. */
const MOST_POWERS = 8;

interface Table {
  readonly at: VectorAt;
  readonly length: number;
}

/** Parameters of a vector of powers: factor·base^i. */
export interface Powers {
  readonly base: bigint;
  readonly factor: bigint;
  readonly length: number;
  readonly order: FieldOrder;
}

class TableCache {
  readonly #arena: Arena;
  readonly #twiddles = new Map<'ntt' | 'intt', Table>();
  #made = 0;
  /** Powers by their parameters, the least recently used first. */
  readonly #powers = new Map<string, Table>();

  /** @param known tables that the memory has already */
  constructor(arena: Arena, known?: TableCache) {
    this.#arena = arena;
    if (known === undefined) return;
    for (const [kind, table] of known.#twiddles) this.#twiddles.set(kind, table);
    for (const [key, table] of known.#powers) this.#powers.set(key, table);
  }

  /** Number of tables that were made. */
  get made(): number {
    return this.#made;
  }

  /** Frees all tables. */
  clear(): void {
    for (const all of [this.#twiddles, this.#powers]) {
      for (const { at, length } of all.values()) this.#arena.release(at, length);
      all.clear();
    }
  }

  /** Makes a table, whose memory is released if that does not succeed. */
  *#make(length: number, write: (at: VectorAt) => Phases): Generator<Phase, Table> {
    const at = this.#arena.take(length);
    this.#made++;
    let isWritten = false;
    try {
      yield* write(at);
      isWritten = true;
    } finally {
      if (!isWritten) this.#arena.release(at, length);
    }
    return { at, length };
  }

  /** Returns the twiddles of transforms of `length` elements; a longer table begins with them. */
  *twiddles(kind: 'ntt' | 'intt', length: number): Generator<Phase, VectorAt> {
    const known = this.#twiddles.get(kind);
    if (known !== undefined && known.length >= length) return known.at;
    const { field } = this.#arena;
    const root = rootOfOrder(field, length);
    const own = kind === 'ntt' ? root : power(root, BigInt(length) - 1n, field.p);
    const { memory } = this.#arena;
    const table = yield* this.#make(length, (at) => writeTwiddles(memory, at, length, own));
    // no table of this kind can have been made meanwhile: runs are one after the other
    if (known !== undefined && this.#twiddles.get(kind) === known) this.#arena.release(known.at, known.length);
    this.#twiddles.set(kind, table);
    return table.at;
  }

  *powers({ base, factor, length, order }: Powers): Generator<Phase, VectorAt> {
    const key = `${order} ${length} ${factor} ${base}`;
    const known = this.#powers.get(key);
    if (known !== undefined) {
      this.#powers.delete(key);
      this.#powers.set(key, known);
      return known.at;
    }
    const { memory } = this.#arena;
    const table = yield* this.#make(length, (at) => writePowers(memory, at, length, { base, factor, order }));
    for (const [oldest, { at, length: own }] of this.#powers) {
      if (this.#powers.size < MOST_POWERS) break;
      this.#powers.delete(oldest);
      this.#arena.release(at, own);
    }
    this.#powers.set(key, table);
    return table.at;
  }
}

/* Memory that only counts: steps run in it without effect, to plan them. */

export class PlannedSpace implements VectorSpace {
  readonly kernel: VectorSpace['kernel'];
  readonly exports: VectorExports;
  #used: number;
  #end: number;

  /**
   * @param real memory with the same kernels
   * @param used bytes of vectors that exist
   * @param end first address of the memory that is taken
   */
  constructor(real: VectorSpace, used = real.used, end = real.bytes) {
    this.kernel = real.kernel;
    const nothing = (): void => undefined;
    const names = Object.keys(real.exports).map((name) => [name, nothing]);
    this.exports = Object.fromEntries(names) as VectorExports;
    this.#used = used;
    this.#end = end;
  }

  /** Forgets what was taken from an address on. @param used bytes of what was taken before */
  rewind(end: number, used: number): void {
    this.#end = end;
    this.#used = used;
  }

  get elementBytes(): number {
    return this.kernel.field.bytes;
  }

  get used(): number {
    return this.#used;
  }

  get bytes(): number {
    return this.#end;
  }

  take(elements: number): VectorAt {
    const [at, bytes] = [this.#end, bytesOfVector(this.kernel, elements)];
    this.#end += bytes;
    this.#used += bytes;
    return at;
  }

  release(_: VectorAt, elements: number): void {
    this.#used -= bytesOfVector(this.kernel, elements);
  }

  *enter(_to: VectorAt, _words: Uint32Array, _scale: bigint): Generator<void> {}

  *leave(): Generator<void> {}

  pick(): void {}

  copy(): void {}

  repeat(): void {}

  clear(): void {}

  /** Returns a number that has an inverse. */
  number(): bigint {
    return 1n;
  }

  putWords(): void {}
}
