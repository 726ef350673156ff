/**
 * Products of sparse matrices and vectors. The entries, sorted by row, are two streams of the same
 * length, one for each lane of the arithmetic, which have no row in common.
 */
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { ENTRIES_PER_STEP, type PackedEntries } from '../program/entries.js';
import type { Arena } from './arena.js';
import { inParts, type OfOne } from './combine.js';

/** Sorted entries of a matrix in words: each value once. */
interface SortedEntries {
  readonly rows: number;
  /** Numbers, little-endian; the first is 0. */
  readonly values: Uint32Array;
  /** Triples (row, value, column), an even number. */
  readonly list: Uint32Array;
}

/** Words of a triple. */
const TRIPLE = 3;

/** Words of triples that are copied at a time. */
const WORDS_PER_STEP = 2 ** 20;

/** Sorts entries by row, in steps. */
export function* sortEntries({ rows, row, column, value, values }: PackedEntries): Generator<void, SortedEntries> {
  const ends = new Uint32Array(rows + 1);
  for (let i = 0; i < row.length; i++) {
    const end = (row[i] as number) + 1;
    ends[end] = (ends[end] as number) + 1;
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  // the first row that begins in the second half of the entries
  const half = row.length / 2;
  let middle = 0;
  for (let i = 0; i < rows; i++) {
    const end = ends[i] as number;
    ends[i + 1] = (ends[i + 1] as number) + end;
    if (end < half) middle = i + 1;
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  const first = ends[middle] as number;
  const length = Math.max(first, row.length - first);
  // what is missing in the shorter stream adds 0 to a row behind all others
  const list = new Uint32Array(2 * TRIPLE * length);
  for (let k = Math.min(first, row.length - first); k < length; k++) {
    list[TRIPLE * (first < length ? 2 * k : 2 * k + 1)] = rows;
    if (k % ENTRIES_PER_STEP === 0) yield;
  }
  for (let i = 0; i < row.length; i++) {
    const own = row[i] as number;
    const position = ends[own] as number;
    ends[own] = position + 1;
    const at = TRIPLE * (position < first ? 2 * position : 2 * (position - first) + 1);
    list[at] = own;
    list[at + 1] = value[i] as number;
    list[at + 2] = column[i] as number;
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  return { rows, values, list };
}

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
    for (let at = 0; at < sorted.list.length; at += WORDS_PER_STEP) {
      memory.putWords(list + 4 * at, sorted.list.subarray(at, at + WORDS_PER_STEP));
      yield;
    }
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
export function* multiplyMatrix(arena: Arena, matrix: PlacedMatrix, { to, a }: Omit<OfOne, 'length'>): Generator<void> {
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
