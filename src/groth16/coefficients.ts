/**
 * The matrices A and B of a Groth16 circuit, section 4 of a `.zkey`: u32 count, then for each entry
 * u32 matrix (0 is A, 1 is B), u32 constraint, u32 variable, and the value in 32 bytes. A value a
 * is written as a·2^512 mod r, little-endian.
 */
import type { FieldBytesOptions, FieldEngine, SparseMatrix } from '../api/fields.js';
import { roomFor } from '../engine/arguments.js';
import { badArgument, untilAborted } from '../errors.js';
import { digitsOf, isBelow } from '../field/modulus.js';
import { type PackedEntries, ValueTable } from '../fields/program/entries.js';
import { openField } from '../fields/program/open-field.js';
import { ORDER_BYTES, sectionOf } from '../formats/binfile.js';
import { numbersOf, type OpenFile } from '../formats/source.js';
import { fileOf, type Groth16Zkey } from '../formats/zkey.js';
import type { TimeSlice } from '../scheduling/time-slice.js';

/** Takes entries as they are packed here, without a copy. */
export interface PackedLoader extends FieldEngine {
  loadPackedMatrix(entries: PackedEntries, options: FieldBytesOptions): Promise<SparseMatrix>;
}

const COUNT_BYTES = 4;

/** Words of a value. */
export const VALUE_WORDS = ORDER_BYTES / 4;

/** Words of an entry before its value: matrix, row and column. */
export const VALUE_AT = 3;

/** Words of an entry. */
export const ENTRY_WORDS = VALUE_AT + VALUE_WORDS;
const ENTRY_BYTES = 4 * ENTRY_WORDS;

/** Entries that are read at a time. */
const ENTRIES_PER_CHUNK = 2 ** 16;

/** Entries between two looks at the clock. */
export const ENTRIES_PER_STEP = 2 ** 12;

/** The entries of A and of B. */
type CircuitMatrices = readonly [a: PackedEntries, b: PackedEntries];

/** Entries in the order of the file. */
export interface EntryChunk {
  /** Number of the first entry in the section. */
  readonly first: number;
  readonly count: number;
  /** The entries one after the other, `ENTRY_WORDS` each. */
  readonly words: Uint32Array;
}

/** The section of a key that has the entries, read chunk by chunk. */
export class CoefficientSection {
  readonly name: string;
  /** Number of entries. */
  readonly count: number;
  readonly #file: OpenFile;
  /** Position of the first entry. */
  readonly #start: number;
  readonly #rows: number;
  readonly #columns: number;
  /** Words of the prime, the lowest first. */
  readonly #prime: readonly number[];

  private constructor(
    { variables, domainSize }: Groth16Zkey,
    file: OpenFile,
    { name, start, count, prime }: { name: string; start: number; count: number; prime: bigint },
  ) {
    this.name = name;
    this.count = count;
    this.#file = file;
    this.#start = start;
    this.#rows = domainSize;
    this.#columns = variables;
    this.#prime = digitsOf(prime, 32, VALUE_WORDS);
  }

  /** @throws MsmError `bad-argument` if the section has another size than it says */
  static async open(zkey: Groth16Zkey): Promise<CoefficientSection> {
    const { file, sections } = fileOf(zkey);
    const name = `${file.what}: section 4 (coefficients)`;
    const { at, byteLength } = sectionOf(file, sections, 4, 'coefficients');
    if (byteLength < COUNT_BYTES) throw badArgument(`${name} is cut off: it has ${byteLength} bytes`);
    const count = numbersOf(await file.read(at, at + COUNT_BYTES)).getUint32(0, true);
    if (byteLength !== COUNT_BYTES + count * ENTRY_BYTES) {
      throw badArgument(`${name} has ${byteLength} bytes, but says ${count} entries of ${ENTRY_BYTES}`);
    }
    const { p: prime } = await openField(`${zkey.curve}-fr`);
    return new CoefficientSection(zkey, file, { name, start: at + COUNT_BYTES, count, prime });
  }

  /** Bytes in memory while it is read: a chunk, and the next one. */
  get bytesOfChunks(): number {
    return Math.min(this.count, 2 * ENTRIES_PER_CHUNK) * ENTRY_BYTES;
  }

  /**
   * Yields all entries. The next chunk is read while one is used.
   *
   * @param signal ends the wait for a chunk
   * @throws MsmError `aborted`; errors of reading the file
   */
  async *chunks(signal?: AbortSignal): AsyncGenerator<EntryChunk> {
    let next = this.#read(0);
    for (let first = 0; first < this.count; first += ENTRIES_PER_CHUNK) {
      const words = wordsOf(await untilAborted(next, signal));
      next = this.#read(first + ENTRIES_PER_CHUNK);
      yield { first, count: words.length / ENTRY_WORDS, words };
    }
  }

  #read(first: number): Promise<Uint8Array> {
    const end = Math.min(this.count, first + ENTRIES_PER_CHUNK);
    if (first >= end) return Promise.resolve(new Uint8Array());
    const bytes = this.#file.read(this.#start + first * ENTRY_BYTES, this.#start + end * ENTRY_BYTES);
    // awaited after the chunk before
    bytes.catch(() => undefined);
    return bytes;
  }

  /** @throws MsmError `bad-argument` for an entry, at words[from], that the circuit cannot have */
  assertPlace(index: number, words: Uint32Array, from: number): void {
    // an array of the three would be garbage for each entry
    const matrix = words[from] as number;
    const row = words[from + 1] as number;
    const column = words[from + 2] as number;
    if (matrix > 1 || row >= this.#rows || column >= this.#columns) {
      throw badArgument(
        `${this.name}: entry ${index} is in matrix ${matrix}, row ${row}, column ${column}; there are 2 matrices of ${this.#rows} × ${this.#columns}`,
      );
    }
  }

  /** @throws MsmError `bad-argument` for an entry, at words[from], that the circuit cannot have, or its value */
  assertEntry(index: number, words: Uint32Array, from: number): void {
    this.assertPlace(index, words, from);
    this.assertValue(index, words, from);
  }

  /** @throws MsmError `bad-argument` if the value of the entry at words[from] is not below the prime */
  assertValue(index: number, words: Uint32Array, from: number): void {
    if (isBelow(words, from + VALUE_AT, this.#prime)) return;
    throw badArgument(`${this.name}: the value of entry ${index} is not below the prime of the field`);
  }
}

/** Matrices in memory. */
export interface ReadMatrices {
  readonly matrices: CircuitMatrices;
  /** True if the rows of both matrices together ascend, as snarkjs writes them. */
  readonly isInOrder: boolean;
}

/**
 * Reads the matrices. The file is read chunk by chunk, and memory holds an index of each value
 * instead of the value.
 *
 * @param timeSlice pauses the work
 * @throws MsmError `bad-argument` naming the entry that the circuit cannot have
 */
export const readCoefficients = async (
  section: CoefficientSection,
  { variables, domainSize }: Pick<Groth16Zkey, 'variables' | 'domainSize'>,
  timeSlice: TimeSlice,
): Promise<ReadMatrices> => {
  const entries = new Entries(section);
  for await (const { first, count, words } of section.chunks()) {
    for (let i = 0; i < count; i++) {
      entries.add(first + i, words, i * ENTRY_WORDS);
      if (i % ENTRIES_PER_STEP === 0 && timeSlice.isOver) await timeSlice.yield();
    }
  }
  return { matrices: entries.matrices(domainSize, variables), isInOrder: entries.isInOrder };
};

/**
 * Checks all entries, and keeps none.
 *
 * @returns whether the rows of both matrices together ascend
 * @throws MsmError `bad-argument` naming the entry that the circuit cannot have
 */
export const areInOrder = async (section: CoefficientSection, timeSlice: TimeSlice): Promise<boolean> => {
  let isInOrder = true;
  let row = 0;
  for await (const { first, count, words } of section.chunks()) {
    for (let i = 0; i < count; i++) {
      const from = i * ENTRY_WORDS;
      section.assertEntry(first + i, words, from);
      const next = words[from + 1] as number;
      if (next < row) isInOrder = false;
      row = next;
      if (i % ENTRIES_PER_STEP === 0 && timeSlice.isOver) await timeSlice.yield();
    }
  }
  return isInOrder;
};

/** Returns bytes as words. A view of a file in memory may begin anywhere; others are not copied. */
const wordsOf = (bytes: Uint8Array): Uint32Array => {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
};

/** Entries of both matrices in one allocation: A's from the front, B's from the back. */
class Entries {
  readonly #section: CoefficientSection;
  readonly #row: Uint32Array;
  readonly #column: Uint32Array;
  readonly #value: Uint32Array;
  readonly #tables = [new ValueTable(VALUE_WORDS), new ValueTable(VALUE_WORDS)] as const;
  /** The next free index at the front, and the first used one at the back. */
  #front = 0;
  #back: number;
  #last = 0;
  #isInOrder = true;

  /** @throws MsmError `bad-argument` */
  constructor(section: CoefficientSection) {
    this.#section = section;
    const { name, count } = section;
    const lists = Array.from({ length: 3 }, () => new Uint32Array(roomFor(name, count, 4, 'entries').buffer));
    [this.#row, this.#column, this.#value] = lists as [Uint32Array, Uint32Array, Uint32Array];
    this.#back = count;
  }

  /** True if no entry so far is in a row before that of the entry before it. */
  get isInOrder(): boolean {
    return this.#isInOrder;
  }

  /**
   * Adds the entry of the file whose words begin at `from`.
   *
   * @throws MsmError `bad-argument` for an entry that the circuit cannot have
   */
  add(index: number, words: Uint32Array, from: number): void {
    this.#section.assertPlace(index, words, from);
    const matrix = words[from] as 0 | 1;
    const row = words[from + 1] as number;
    const table = this.#tables[matrix];
    const before = table.count;
    const value = table.indexOf(words, from + VALUE_AT);
    if (table.count > before) this.#section.assertValue(index, words, from);
    const i = matrix === 0 ? this.#front++ : --this.#back;
    this.#row[i] = row;
    this.#column[i] = words[from + 2] as number;
    this.#value[i] = value;
    if (row < this.#last) this.#isInOrder = false;
    this.#last = row;
  }

  /** Returns both matrices, of `rows` × `columns`. */
  matrices(rows: number, columns: number): CircuitMatrices {
    const part = (matrix: 0 | 1, from: number, to: number): PackedEntries => ({
      ...{ rows, columns, row: this.#row.subarray(from, to), column: this.#column.subarray(from, to) },
      ...{ value: this.#value.subarray(from, to), values: this.#tables[matrix].values() },
    });
    // B's are in the reverse order of the file, and sorted rows are dealt to threads faster
    for (const list of [this.#row, this.#column, this.#value]) list.subarray(this.#front).reverse();
    return [part(0, 0, this.#front), part(1, this.#front, this.#row.length)];
  }
}
