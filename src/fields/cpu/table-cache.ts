/** Twiddles and powers that later runs use again. */

import type { FieldOrder } from '../../api/fields.js';
import { power } from '../../field/square-root.js';
import { writePowers, writeTwiddles } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt, VectorSpace } from '../../wasm/vectors/vector-kernel.js';
import type { OpenField } from '../program/open-field.js';

/** Powers that are kept at most. */
const MOST_POWERS = 8;

/** Memory that tables are made in. */
export interface TableMemory {
  readonly field: OpenField;
  readonly memory: VectorSpace;
  take(elements: number): VectorAt;
  release(at: VectorAt, elements: number): void;
}

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

export class TableCache {
  readonly #arena: TableMemory;
  readonly #twiddles = new Map<'ntt' | 'intt', Table>();
  /** Powers by their parameters, the least recently used first. */
  readonly #powers = new Map<string, Table>();

  /** @param known tables that the memory has already */
  constructor(arena: TableMemory, known?: TableCache) {
    this.#arena = arena;
    if (known === undefined) return;
    for (const [kind, table] of known.#twiddles) this.#twiddles.set(kind, table);
    for (const [key, table] of known.#powers) this.#powers.set(key, table);
  }

  /** Frees all tables. */
  clear(): void {
    for (const all of [this.#twiddles, this.#powers]) {
      for (const { at, length } of all.values()) this.#arena.release(at, length);
      all.clear();
    }
  }

  /** Makes a table, whose memory is released if that does not succeed. */
  *#make(length: number, write: (at: VectorAt) => Generator<void>): Generator<void, Table> {
    const at = this.#arena.take(length);
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
  *twiddles(kind: 'ntt' | 'intt', length: number): Generator<void, VectorAt> {
    const known = this.#twiddles.get(kind);
    if (known !== undefined && known.length >= length) return known.at;
    const { p, rootOfUnity, twoAdicity } = this.#arena.field;
    const root = power(rootOfUnity, 2n ** BigInt(twoAdicity) / BigInt(length), p);
    const own = kind === 'ntt' ? root : power(root, BigInt(length) - 1n, p);
    const { memory } = this.#arena;
    const table = yield* this.#make(length, (at) => writeTwiddles(memory, at, length, own));
    // no table of this kind can have been made meanwhile: runs are one after the other
    if (known !== undefined && this.#twiddles.get(kind) === known) this.#arena.release(known.at, known.length);
    this.#twiddles.set(kind, table);
    return table.at;
  }

  *powers({ base, factor, length, order }: Powers): Generator<void, VectorAt> {
    const key = `${order} ${length} ${factor} ${base}`;
    const known = this.#powers.get(key);
    if (known !== undefined) {
      this.#powers.delete(key);
      this.#powers.set(key, known);
      return known.at;
    }
    const { memory } = this.#arena;
    const table = yield* this.#make(length, (at) => writePowers(memory, at, length, base, factor, order));
    for (const [oldest, { at, length: own }] of this.#powers) {
      if (this.#powers.size < MOST_POWERS) break;
      this.#powers.delete(oldest);
      this.#arena.release(at, own);
    }
    this.#powers.set(key, table);
    return table.at;
  }
}
