/**
 * Products of sparse matrices and vectors. The entries, sorted by row, are parts that
 * threads take, each of two streams of the same length, one for each lane of the arithmetic.
 */
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { call, type KernelCall, type Phases } from '../../wasm/vectors/vector-program.js';
import type { Entries } from '../program/vector-backend.js';
import type { Arena } from './arena.js';
import { clearVector, copyVector, type OfOne } from './combine.js';

/** Entries of a matrix in words: each value once. */
interface SortedEntries {
  readonly rows: number;
  /** Numbers, little-endian; the first is 0. */
  readonly values: Uint32Array;
  /** Triples (row, value, column), part by part, an even number in each. */
  readonly list: Uint32Array;
  /** First triple of each part, and behind them the number of triples. */
  readonly parts: readonly number[];
}

/** Entries of a part at least: parts are what threads take. */
const ENTRIES_OF_A_PART = 2 ** 11;

/** Parts at most: a few for each of many threads. */
const MOST_PARTS = 64;

/** Words of a triple. */
const TRIPLE = 3;

/** Finds the index of each value among the different ones. */
const differentValues = (
  words: Uint32Array,
  perNumber: number,
): { readonly values: Uint32Array; readonly indices: Uint32Array } => {
  const count = words.length / perNumber;
  const indices = new Uint32Array(count);
  const values = new Uint32Array((count + 1) * perNumber);
  const byHash = new Map<number, number[]>([[0, [0]]]);
  let found = 1;
  for (let i = 0; i < count; i++) {
    const from = i * perNumber;
    let hash = 0;
    for (let j = 0; j < perNumber; j++) hash = Math.imul(hash ^ (words[from + j] as number), 0x9e37_79b1) | 0;
    const alike = byHash.get(hash) ?? [];
    let index = alike.find((k) => {
      for (let j = 0; j < perNumber; j++) if (values[k * perNumber + j] !== words[from + j]) return false;
      return true;
    });
    if (index === undefined) {
      index = found++;
      values.set(words.subarray(from, from + perNumber), index * perNumber);
      byHash.set(hash, [...alike, index]);
    }
    indices[i] = index;
  }
  return { values: values.slice(0, found * perNumber), indices };
};

/**
 * Sorts entries by row and deals them to parts: no two parts have a row in common, nor have the two
 * streams of a part, one for each lane of the arithmetic.
 *
 * @param perNumber words of a value
 */
export const sortEntries = (
  rows: number,
  { row, column, words }: Pick<Entries, 'row' | 'column' | 'words'>,
  perNumber: number,
): SortedEntries => {
  const { values, indices } = differentValues(words, perNumber);
  const ends = new Uint32Array(rows + 1);
  for (const each of row) ends[each + 1] = (ends[each + 1] as number) + 1;
  for (let i = 0; i < rows; i++) ends[i + 1] = (ends[i + 1] as number) + (ends[i] as number);
  const partCount = Math.min(MOST_PARTS, Math.max(1, Math.floor(row.length / ENTRIES_OF_A_PART)));
  // entries before each stream, at the first row that begins there or later
  const starts = [0];
  let next = 0;
  for (let stream = 1; stream <= 2 * partCount; stream++) {
    const wanted = (row.length * stream) / (2 * partCount);
    while (next < rows && (ends[next] as number) < wanted) next++;
    starts.push(ends[next] as number);
  }
  const parts = [0];
  for (let part = 0; part < partCount; part++) {
    const [first, second, end] = starts.slice(2 * part, 2 * part + 3) as [number, number, number];
    parts.push((parts.at(-1) as number) + 2 * Math.max(second - first, end - second));
  }
  // what is missing in the shorter stream of a part adds 0 to a row behind all others
  const list = new Uint32Array(TRIPLE * (parts.at(-1) as number));
  for (let i = 0; i < list.length; i += TRIPLE) list[i] = rows;
  const places = new Uint32Array(row.length);
  for (let part = 0; part < partCount; part++) {
    const [first, second, end] = starts.slice(2 * part, 2 * part + 3) as [number, number, number];
    const at = parts[part] as number;
    for (let i = first; i < second; i++) places[i] = at + 2 * (i - first);
    for (let i = second; i < end; i++) places[i] = at + 2 * (i - second) + 1;
  }
  const nextOf = ends.slice(0, rows);
  for (const [i, of] of row.entries()) {
    const position = nextOf[of] as number;
    nextOf[of] = position + 1;
    const at = TRIPLE * (places[position] as number);
    list[at] = of;
    list[at + 1] = indices[i] as number;
    list[at + 2] = column[i] as number;
  }
  return { rows, values, list, parts };
};

/** A matrix in memory. */
export interface PlacedMatrix {
  readonly rows: number;
  readonly values: VectorAt;
  readonly valueCount: number;
  readonly list: VectorAt;
  /** Elements that take as much memory as the list. */
  readonly listElements: number;
  /** First triple of each part, and behind them the number of triples. */
  readonly parts: readonly number[];
  readonly triples: number;
}

/** Copies a matrix into memory. @param scale factor of its values */
export function* placeMatrix(arena: Arena, sorted: SortedEntries, scale: bigint): Generator<void, PlacedMatrix> {
  const { memory, bytes } = arena;
  const valueCount = (4 * sorted.values.length) / memory.kernel.wordBytes;
  const listElements = Math.max(1, Math.ceil((4 * sorted.list.length) / bytes));
  const values = arena.take(valueCount);
  let list: VectorAt | null = null;
  let isDone = false;
  try {
    yield* memory.enter(values, sorted.values, scale);
    list = arena.take(listElements);
    memory.putWords(list, sorted.list);
    isDone = true;
    const { rows, parts } = sorted;
    return { rows, values, valueCount, list, listElements, parts, triples: sorted.list.length / TRIPLE };
  } finally {
    if (!isDone) {
      arena.release(values, valueCount);
      if (list !== null) arena.release(list, listElements);
    }
  }
}

export const releaseMatrix = (arena: Arena, matrix: PlacedMatrix): void => {
  arena.release(matrix.values, matrix.valueCount);
  arena.release(matrix.list, matrix.listElements);
};

/** Triples of one call. */
const TRIPLES_AT_ONCE = 2 ** 13;

/** Writes matrix·a. @param to another vector */
export function* multiplyMatrix(arena: Arena, matrix: PlacedMatrix, { to, a }: Omit<OfOne, 'length'>): Phases {
  const { rows, values, list, parts } = matrix;
  const sums = arena.take(rows + 1);
  try {
    yield* clearVector(arena, sums, rows + 1);
    yield {
      chunks: parts.slice(1).map((end, part) => {
        const calls: KernelCall[] = [];
        for (let first = parts[part] as number; first < end; first += TRIPLES_AT_ONCE) {
          const count = Math.min(TRIPLES_AT_ONCE, end - first);
          calls.push(call('addProducts', list + 4 * TRIPLE * first, count, sums, values, a));
        }
        return calls;
      }),
    };
    yield* copyVector(arena, to, sums, rows);
  } finally {
    arena.release(sums, rows + 1);
  }
}
