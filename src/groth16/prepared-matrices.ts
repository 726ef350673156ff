/**
 * Packed matrices as a cache keeps them beside a key: eight words (the form, 1 if entries are in the order of
 * the file's rows, entries and values of A, entries and values of B, two zeros), then for A and for B the rows,
 * the columns, and the indices of values, a word for each entry, in the order of rows if the file has it, and
 * the different values. Words are little-endian. Who reads them looks up no value and sorts nothing.
 */
import type { PackedEntries } from '../fields/program/entries.js';
import type { PreparedBytes } from '../formats/cached-file.js';
import { CHUNK_BYTES } from '../formats/source.js';
import type { Groth16Zkey } from '../formats/zkey.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import { type ReadMatrices, VALUE_WORDS } from './coefficients.js';

/** The form of these bytes; another form has another number. */
const FORM = 1;

const HEADER_WORDS = 8;

/** Words that are written and read at a time: whole pages of a cache. */
const CHUNK_WORDS = CHUNK_BYTES / 4;

/** The lists of a matrix, in their order. */
const listsOf = ({ row, column, value, values }: PackedEntries): readonly Uint32Array[] => [row, column, value, values];

/** Returns the bytes of packed matrices, and their number. */
export const preparedOf = ({
  matrices,
  isInOrder,
}: ReadMatrices): [byteLength: number, chunks: Iterable<Uint8Array>] => {
  const counts = matrices.flatMap(({ row, values }) => [row.length, values.length / VALUE_WORDS]);
  const header = Uint32Array.from({ length: HEADER_WORDS }, (_, i) => [FORM, Number(isInOrder), ...counts][i] ?? 0);
  const lists = [header, ...matrices.flatMap(listsOf)];
  const words = lists.reduce((sum, { length }) => sum + length, 0);
  return [4 * words, chunksOf(lists, words)];
};

function* chunksOf(lists: readonly Uint32Array[], words: number): Generator<Uint8Array> {
  let chunk = new Uint32Array(Math.min(CHUNK_WORDS, words));
  let [filled, left] = [0, words];
  for (const list of lists) {
    for (let from = 0; from < list.length; ) {
      const some = list.subarray(from, from + chunk.length - filled);
      chunk.set(some, filled);
      filled += some.length;
      from += some.length;
      if (filled < chunk.length) continue;
      yield new Uint8Array(chunk.buffer);
      left -= filled;
      chunk = new Uint32Array(Math.min(CHUNK_WORDS, left));
      filled = 0;
    }
  }
}

/** Reads words one after the other. */
class WordReader {
  readonly #bytes: PreparedBytes;
  #at = 0;

  constructor(bytes: PreparedBytes) {
    this.#bytes = bytes;
  }

  /** @returns null if they are damaged, or not there */
  async read(words: number): Promise<Uint32Array<ArrayBuffer> | null> {
    if (this.#at + 4 * words > this.#bytes.byteLength) return null;
    const list = new Uint32Array(words);
    const bytes = new Uint8Array(list.buffer);
    for (let done = 0; done < bytes.length; ) {
      // as far as the end of a chunk, so that no page is read twice but those where a list ends
      const to = Math.min(bytes.length, done + CHUNK_BYTES - (this.#at % CHUNK_BYTES));
      const some = await this.#bytes.read(this.#at, this.#at + to - done);
      if (some === null) return null;
      bytes.set(some, done);
      this.#at += to - done;
      done = to;
    }
    return list;
  }
}

/**
 * Reads matrices that an earlier visit prepared.
 *
 * @returns null if they are damaged, or the circuit cannot have an entry of them
 */
export const readPrepared = async (
  bytes: PreparedBytes,
  zkey: Groth16Zkey,
  timeSlice: TimeSlice,
): Promise<ReadMatrices | null> => {
  const words = new WordReader(bytes);
  const header = await words.read(HEADER_WORDS);
  if (header === null || header[0] !== FORM) return null;
  const [, isInOrder, entriesOfA, valuesOfA, entriesOfB, valuesOfB] = header as unknown as readonly number[];
  const a = await readMatrix(words, zkey, { entries: entriesOfA as number, values: valuesOfA as number }, timeSlice);
  if (a === null) return null;
  const b = await readMatrix(words, zkey, { entries: entriesOfB as number, values: valuesOfB as number }, timeSlice);
  return b === null ? null : { matrices: [a, b], isInOrder: isInOrder === 1 };
};

const readMatrix = async (
  words: WordReader,
  { domainSize: rows, variables: columns }: Groth16Zkey,
  counts: { readonly entries: number; readonly values: number },
  timeSlice: TimeSlice,
): Promise<PackedEntries | null> => {
  const lists: Uint32Array<ArrayBuffer>[] = [];
  for (const length of [counts.entries, counts.entries, counts.entries, counts.values * VALUE_WORDS]) {
    const list = await words.read(length);
    if (list === null) return null;
    lists.push(list);
    if (timeSlice.isOver) await timeSlice.yield();
  }
  const [row, column, value, values] = lists as [Uint32Array, Uint32Array, Uint32Array, Uint32Array<ArrayBuffer>];
  for (const [list, end] of [
    [row, rows],
    [column, columns],
    [value, counts.values],
  ] as const) {
    if (!(await areBelow(list, end, timeSlice))) return null;
  }
  return { rows, columns, row, column, value, values };
};

/** Words between two looks at the clock. */
const WORDS_PER_STEP = 2 ** 16;

/** Returns whether all words are below a bound: they become addresses. */
const areBelow = async (words: Uint32Array, end: number, timeSlice: TimeSlice): Promise<boolean> => {
  for (let i = 0; i < words.length; i++) {
    if ((words[i] as number) >= end) return false;
    if (i % WORDS_PER_STEP === 0 && timeSlice.isOver) await timeSlice.yield();
  }
  return true;
};
