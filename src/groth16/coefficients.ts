/**
 * The matrices A and B of a Groth16 circuit, section 4 of a `.zkey`: u32 count, then for each entry
 * u32 matrix (0 is A, 1 is B), u32 constraint, u32 variable, and the value in 32 bytes. A value a
 * is written as a·2^512 mod r, little-endian.
 */
import type { FieldBytesOptions, FieldEngine, SparseMatrix } from '../api/fields.js';
import { roomFor } from '../engine/arguments.js';
import { badArgument } from '../errors.js';
import { type PackedEntries, ValueTable } from '../fields/program/entries.js';
import { openField } from '../fields/program/open-field.js';
import { ORDER_BYTES, sectionOf } from '../formats/binfile.js';
import { numbersOf } from '../formats/source.js';
import { fileOf, type Groth16Zkey } from '../formats/zkey.js';
import type { TimeSlice } from '../scheduling/time-slice.js';

/** Takes entries as they are packed here, without a copy. */
export interface PackedLoader extends FieldEngine {
  loadPackedMatrix(entries: PackedEntries, options: FieldBytesOptions): Promise<SparseMatrix>;
}

const COUNT_BYTES = 4;
const VALUE_WORDS = ORDER_BYTES / 4;
/** Words of an entry: matrix, row, column, and a value. */
const ENTRY_WORDS = 3 + VALUE_WORDS;
const ENTRY_BYTES = 4 * ENTRY_WORDS;

/** Entries that are read at a time, and those that are packed between two looks at the clock. */
const [ENTRIES_PER_CHUNK, ENTRIES_PER_STEP] = [2 ** 16, 2 ** 12];

/** The entries of A and of B. */
type CircuitMatrices = readonly [a: PackedEntries, b: PackedEntries];

/**
 * Reads the matrices. The file is read chunk by chunk, and memory holds an index of each value
 * instead of the value.
 *
 * @param timeSlice pauses the work
 * @throws MsmError `bad-argument` naming the entry that the circuit cannot have
 */
export const readCoefficients = async (zkey: Groth16Zkey, timeSlice: TimeSlice): Promise<CircuitMatrices> => {
  const { variables, domainSize, curve } = zkey;
  const { file, sections } = fileOf(zkey);
  const name = `${file.what}: section 4 (coefficients)`;
  const { at, byteLength } = sectionOf(file, sections, 4, 'coefficients');
  if (byteLength < COUNT_BYTES) throw badArgument(`${name} is cut off: it has ${byteLength} bytes`);
  const count = numbersOf(await file.read(at, at + COUNT_BYTES)).getUint32(0, true);
  if (byteLength !== COUNT_BYTES + count * ENTRY_BYTES) {
    throw badArgument(`${name} has ${byteLength} bytes, but says ${count} entries of ${ENTRY_BYTES}`);
  }
  const { p } = await openField(`${curve}-fr`);
  const entries = new Entries(name, count, p);
  const start = at + COUNT_BYTES;
  for (let first = 0; first < count; first += ENTRIES_PER_CHUNK) {
    const end = Math.min(count, first + ENTRIES_PER_CHUNK);
    const chunk = await file.read(start + first * ENTRY_BYTES, start + end * ENTRY_BYTES);
    const words = wordsOf(chunk);
    for (let i = first; i < end; i++) {
      const from = (i - first) * ENTRY_WORDS;
      // an array of the three would be garbage for each entry
      const matrix = words[from] as number;
      const row = words[from + 1] as number;
      const column = words[from + 2] as number;
      if (matrix > 1 || row >= domainSize || column >= variables) {
        throw badArgument(
          `${name}: entry ${i} is in matrix ${matrix}, row ${row}, column ${column}; there are 2 matrices of ${domainSize} × ${variables}`,
        );
      }
      entries.add(i, words, from);
      if (i % ENTRIES_PER_STEP === 0 && timeSlice.isOver) await timeSlice.yield();
    }
  }
  return entries.matrices(domainSize, variables);
};

/** Returns bytes as words. A view of a file in memory may begin anywhere; others are not copied. */
const wordsOf = (bytes: Uint8Array): Uint32Array => {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
};

/** Entries of both matrices in one allocation: A's from the front, B's from the back. */
class Entries {
  readonly #name: string;
  /** Words of the prime, the lowest first. */
  readonly #prime: readonly number[];
  readonly #row: Uint32Array;
  readonly #column: Uint32Array;
  readonly #value: Uint32Array;
  readonly #tables = [new ValueTable(VALUE_WORDS), new ValueTable(VALUE_WORDS)] as const;
  /** The next free index at the front, and the first used one at the back. */
  #front = 0;
  #back: number;

  /** @param name of the section, for errors @throws MsmError `bad-argument` */
  constructor(name: string, count: number, prime: bigint) {
    this.#name = name;
    this.#prime = Array.from({ length: VALUE_WORDS }, (_, j) => Number((prime >> BigInt(32 * j)) & 0xffff_ffffn));
    const lists = Array.from({ length: 3 }, () => new Uint32Array(roomFor(name, count, 4, 'entries').buffer));
    [this.#row, this.#column, this.#value] = lists as [Uint32Array, Uint32Array, Uint32Array];
    this.#back = count;
  }

  /**
   * Adds the entry of the file whose words begin at `from`.
   *
   * @throws MsmError `bad-argument` for a value that is not below the prime
   */
  add(index: number, words: Uint32Array, from: number): void {
    const matrix = words[from] as 0 | 1;
    const table = this.#tables[matrix];
    const before = table.count;
    const value = table.indexOf(words, from + 3);
    if (table.count > before && !this.#isBelowPrime(words, from + 3)) {
      throw badArgument(`${this.#name}: the value of entry ${index} is not below the prime of the field`);
    }
    const i = matrix === 0 ? this.#front++ : --this.#back;
    this.#row[i] = words[from + 1] as number;
    this.#column[i] = words[from + 2] as number;
    this.#value[i] = value;
  }

  #isBelowPrime(words: Uint32Array, from: number): boolean {
    let j = VALUE_WORDS - 1;
    while (j > 0 && words[from + j] === this.#prime[j]) j--;
    return (words[from + j] as number) < (this.#prime[j] as number);
  }

  /** Returns both matrices, of `rows` × `columns`. */
  matrices(rows: number, columns: number): CircuitMatrices {
    const part = (matrix: 0 | 1, from: number, to: number): PackedEntries => ({
      ...{ rows, columns, row: this.#row.subarray(from, to), column: this.#column.subarray(from, to) },
      ...{ value: this.#value.subarray(from, to), values: this.#tables[matrix].values() },
    });
    return [part(0, 0, this.#front), part(1, this.#front, this.#row.length)];
  }
}
