/**
 * Entries of a sparse matrix in little memory: each value once. A circuit has few coefficients, most
 * of them ±1, and many entries.
 */

/** Entries in any order. Entry i is values[value[i]] in row row[i] and column column[i]. */
export interface PackedEntries {
  readonly rows: number;
  readonly columns: number;
  readonly row: Uint32Array;
  readonly column: Uint32Array;
  /** Index of each entry's value. */
  readonly value: Uint32Array;
  /** The different values as little-endian words; the first is 0. */
  readonly values: Uint32Array<ArrayBuffer>;
}

/** Entries between two pauses, which take less than a millisecond. */
export const ENTRIES_PER_STEP = 2 ** 14;

/** Packs entries whose values are words. @param perNumber words of a value */
export function* packEntries(
  { rows, columns, row, column }: Pick<PackedEntries, 'rows' | 'columns' | 'row' | 'column'>,
  words: Uint32Array,
  perNumber: number,
): Generator<void, PackedEntries> {
  const table = new ValueTable(perNumber);
  const value = new Uint32Array(row.length);
  for (let i = 0; i < value.length; i++) {
    value[i] = table.indexOf(words, i * perNumber);
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  return { rows, columns, row, column, value, values: table.values() };
}

/** Slots of a new table. */
const LEAST_SLOTS = 2 ** 8;

/** Different values, in the order in which they were added; the first is 0. */
export class ValueTable {
  readonly #perNumber: number;
  /** Makes values that share a slot differ from one table to the next, so that no file is slow. */
  readonly #seed = Math.floor(Math.random() * 2 ** 32);
  #words: Uint32Array<ArrayBuffer>;
  /** Indices of values plus 1, by hash and then the next free slot; 0 is free. */
  #slots = new Uint32Array(LEAST_SLOTS);
  #count = 0;

  /** @param perNumber words of a value */
  constructor(perNumber: number) {
    this.#perNumber = perNumber;
    this.#words = new Uint32Array((LEAST_SLOTS / 2) * perNumber);
    this.indexOf(new Uint32Array(perNumber), 0);
  }

  /** Number of different values, 0 included. */
  get count(): number {
    return this.#count;
  }

  /** Returns the index of the value at words[from], which is added if it is new. */
  indexOf(words: Uint32Array, from: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#hash(words, from) & mask;
    for (;;) {
      const held = this.#slots[slot] as number;
      if (held === 0) break;
      if (this.#isAt(held - 1, words, from)) return held - 1;
      slot = (slot + 1) & mask;
    }
    const index = this.#count++;
    this.#slots[slot] = index + 1;
    const perNumber = this.#perNumber;
    for (let j = 0; j < perNumber; j++) this.#words[index * perNumber + j] = words[from + j] as number;
    if (2 * this.#count >= this.#slots.length) this.#grow();
    return index;
  }

  /** Returns the words of all values, in a new array. */
  values(): Uint32Array<ArrayBuffer> {
    return this.#words.slice(0, this.#count * this.#perNumber);
  }

  #hash(words: Uint32Array, from: number): number {
    let hash = this.#seed;
    for (let j = 0; j < this.#perNumber; j++) {
      hash = Math.imul(hash ^ (words[from + j] as number), 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  }

  #isAt(index: number, words: Uint32Array, from: number): boolean {
    const perNumber = this.#perNumber;
    for (let j = 0; j < perNumber; j++) if (this.#words[index * perNumber + j] !== words[from + j]) return false;
    return true;
  }

  #grow(): void {
    const words = new Uint32Array(2 * this.#words.length);
    words.set(this.#words);
    this.#words = words;
    this.#slots = new Uint32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let index = 0; index < this.#count; index++) {
      let slot = this.#hash(words, index * this.#perNumber) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = index + 1;
    }
  }
}
