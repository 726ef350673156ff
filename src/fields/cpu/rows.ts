/**
 * Products of sparse matrices and vectors. The entries, sorted by row, are parts that
 * threads take, each of two streams of the same length, one for each lane of the arithmetic.
 */
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { call, type KernelCall, type Phases } from '../../wasm/vectors/vector-program.js';
import { ENTRIES_PER_STEP, type PackedEntries } from '../program/entries.js';
import type { Arena } from './arena.js';
import { clearVector, copyVector, type OfOne } from './combine.js';

/** Sorted entries of a matrix in words: each value once. */
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

/** Words of triples that are copied at a time. */
const WORDS_PER_STEP = 2 ** 20;

/**
 * Sorts entries by row, in steps, and deals them to parts: no two parts have a row in common, nor have
 * the two streams of a part, one for each lane of the arithmetic.
 */
export function* sortEntries({ rows, row, column, value, values }: PackedEntries): Generator<void, SortedEntries> {
  const ends = new Uint32Array(rows + 1);
  let isSorted = true;
  for (let i = 0, last = 0; i < row.length; i++) {
    const of = row[i] as number;
    ends[of + 1] = (ends[of + 1] as number) + 1;
    if (of < last) isSorted = false;
    last = of;
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  for (let i = 0; i < rows; i++) {
    ends[i + 1] = (ends[i + 1] as number) + (ends[i] as number);
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  const partCount = Math.min(MOST_PARTS, Math.max(1, Math.floor(row.length / ENTRIES_OF_A_PART)));
  // entries before each stream, at the first row that begins there or later
  const starts = [0];
  let next = 0;
  for (let stream = 1; stream <= 2 * partCount; stream++) {
    const wanted = (row.length * stream) / (2 * partCount);
    while (next < rows && (ends[next] as number) < wanted) next++;
    starts.push(ends[next] as number);
    yield;
  }
  const parts = [0];
  for (let part = 0; part < partCount; part++) {
    const [first, second, end] = starts.slice(2 * part, 2 * part + 3) as [number, number, number];
    parts.push((parts.at(-1) as number) + 2 * Math.max(second - first, end - second));
  }
  // what is missing in the shorter stream of a part adds 0 to a row behind all others
  const list = new Uint32Array(TRIPLE * (parts.at(-1) as number));
  if (isSorted) {
    for (let stream = 0; stream < 2 * partCount; stream++) {
      const [first, end] = starts.slice(stream, stream + 2) as [number, number];
      let at = TRIPLE * ((parts[stream >>> 1] as number) + (stream & 1));
      const last = TRIPLE * (parts[(stream >>> 1) + 1] as number);
      for (let i = first; i < end; i++, at += 2 * TRIPLE) {
        list[at] = row[i] as number;
        list[at + 1] = value[i] as number;
        list[at + 2] = column[i] as number;
        if (i % ENTRIES_PER_STEP === 0) yield;
      }
      for (; at < last; at += 2 * TRIPLE) list[at] = rows;
      yield;
    }
    return { rows, values, list, parts };
  }
  for (let i = 0; i < list.length; i += TRIPLE) {
    list[i] = rows;
    if (i % (TRIPLE * ENTRIES_PER_STEP) === 0) yield;
  }
  const places = new Uint32Array(row.length);
  for (let part = 0; part < partCount; part++) {
    const [first, second, end] = starts.slice(2 * part, 2 * part + 3) as [number, number, number];
    const at = parts[part] as number;
    for (let i = first; i < second; i++) places[i] = at + 2 * (i - first);
    for (let i = second; i < end; i++) places[i] = at + 2 * (i - second) + 1;
    yield;
  }
  for (let i = 0; i < row.length; i++) {
    const of = row[i] as number;
    const position = ends[of] as number;
    ends[of] = position + 1;
    const at = TRIPLE * (places[position] as number);
    list[at] = of;
    list[at + 1] = value[i] as number;
    list[at + 2] = column[i] as number;
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  return { rows, values, list, parts };
}

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
    for (let at = 0; at < sorted.list.length; at += WORDS_PER_STEP) {
      memory.putWords(list + 4 * at, sorted.list.subarray(at, at + WORDS_PER_STEP));
      yield;
    }
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
