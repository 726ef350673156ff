/**
 * Products of sparse matrices and vectors. The entries, sorted by row, are two streams of the same
 * length, one for each lane of the arithmetic, which have no row in common.
 */
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import type { Arena } from './arena.js';
import { inParts } from './combine.js';

/** Entries of a matrix in words: each value once. */
interface SortedEntries {
  readonly rows: number;
  /** Numbers, little-endian; the first is 0. */
  readonly values: Uint32Array;
  /** Triples (row, value, column), an even number. */
  readonly list: Uint32Array;
}

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

/** Sorts entries. @param words value of each entry, little-endian */
export const sortEntries = (
  rows: number,
  row: Uint32Array,
  column: Uint32Array,
  words: Uint32Array,
  perNumber: number,
): SortedEntries => {
  const { values, indices } = differentValues(words, perNumber);
  const ends = new Uint32Array(rows + 1);
  for (const each of row) ends[each + 1] = (ends[each + 1] as number) + 1;
  for (let i = 0; i < rows; i++) ends[i + 1] = (ends[i + 1] as number) + (ends[i] as number);
  // the first row that begins in the second half of the entries
  const half = row.length / 2;
  let middle = 0;
  while (middle < rows && (ends[middle] as number) < half) middle++;
  const first = ends[middle] as number;
  const length = Math.max(first, row.length - first);
  // what is missing in the shorter stream adds 0 to a row behind all others
  const list = new Uint32Array(2 * TRIPLE * length);
  for (let i = 0; i < list.length; i += TRIPLE) list[i] = rows;
  const next = ends.slice(0, rows);
  for (const [i, own] of row.entries()) {
    const position = next[own] as number;
    next[own] = position + 1;
    const at = TRIPLE * (position < first ? 2 * position : 2 * (position - first) + 1);
    list[at] = own;
    list[at + 1] = indices[i] as number;
    list[at + 2] = column[i] as number;
  }
  return { rows, values, list };
};

/** A matrix in memory. */
export interface PlacedMatrix {
  readonly rows: number;
  readonly values: VectorAt;
  readonly valueCount: number;
  readonly list: VectorAt;
  /** Elements that take as much memory as the list. */
  readonly listElements: number;
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
    return { rows: sorted.rows, values, valueCount, list, listElements, triples: sorted.list.length / TRIPLE };
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

/** Writes matrix·a. @param to another vector */
export function* multiplyMatrix(arena: Arena, to: VectorAt, matrix: PlacedMatrix, a: VectorAt): Generator<void> {
  const { memory } = arena;
  const { rows, values, list, triples } = matrix;
  const sums = arena.take(rows + 1);
  try {
    memory.clear(sums, rows + 1);
    yield* inParts(triples, (first, count) =>
      memory.exports.addProducts(list + 4 * TRIPLE * first, count, sums, values, a),
    );
    memory.copy(to, sums, rows);
  } finally {
    arena.release(sums, rows + 1);
  }
}
