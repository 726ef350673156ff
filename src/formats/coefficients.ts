/**
 * The matrices A and B of a Groth16 circuit, section 4 of a `.zkey`: u32 count, then for each entry
 * u32 matrix (0 is A, 1 is B), u32 constraint, u32 variable, and the value in 32 bytes. A value a
 * is written as a·2^512 mod r, little-endian.
 */
import type { MatrixEntries } from '../api/fields.js';
import { badArgument } from '../errors.js';
import { sectionOf } from './binfile.js';
import { ORDER_BYTES } from './snarkjs.js';
import { numbersOf } from './source.js';
import { fileOf, type Groth16Zkey } from './zkey.js';

const COUNT_BYTES = 4;
const ENTRY_BYTES = 12 + ORDER_BYTES;
const VALUE_WORDS = ORDER_BYTES / 4;

/** Entries that are read at a time, in a few milliseconds. */
const ENTRIES_PER_CHUNK = 2 ** 16;

/** The entries of A and of B. */
export type CircuitMatrices = readonly [a: MatrixEntries, b: MatrixEntries];

/** Entries of both matrices in one allocation: A's from the front, B's from the back. */
class Entries {
  readonly #row: Uint32Array;
  readonly #column: Uint32Array;
  readonly #values: Uint32Array<ArrayBuffer>;
  /** The next free index at the front, and the first used one at the back. */
  #front = 0;
  #back: number;

  constructor(count: number) {
    try {
      this.#row = new Uint32Array(count);
      this.#column = new Uint32Array(count);
      this.#values = new Uint32Array(count * VALUE_WORDS);
    } catch {
      throw badArgument(`zkey: section 4 (coefficients): ${count} entries are more than JavaScript can hold`);
    }
    this.#back = count;
  }

  /** Copies the entry that begins at `at`. */
  add(isA: boolean, row: number, column: number, from: DataView, at: number): void {
    const i = isA ? this.#front++ : --this.#back;
    this.#row[i] = row;
    this.#column[i] = column;
    for (let k = 0; k < VALUE_WORDS; k++) this.#values[i * VALUE_WORDS + k] = from.getUint32(at + 12 + 4 * k, true);
  }

  /** Returns both matrices, of `rows` × `columns`. */
  matrices(rows: number, columns: number): CircuitMatrices {
    const part = (from: number, to?: number): MatrixEntries => ({
      ...{ rows, columns, row: this.#row.subarray(from, to), column: this.#column.subarray(from, to) },
      values: this.#values.subarray(from * VALUE_WORDS, to && to * VALUE_WORDS),
    });
    // `to` of A may be 0, which subarray takes as it is
    return [this.#front === 0 ? part(this.#row.length) : part(0, this.#front), part(this.#front)];
  }
}

/**
 * Reads the matrices. Does not check that values are below r.
 *
 * @param afterChunk called after every few milliseconds of work
 * @throws MsmError `bad-argument` naming the entry that the circuit cannot have
 */
export const readCoefficients = async (
  zkey: Groth16Zkey,
  afterChunk: () => Promise<void>,
): Promise<CircuitMatrices> => {
  const { variables, domainSize } = zkey;
  const { file, sections } = fileOf(zkey);
  const name = `${file.what}: section 4 (coefficients)`;
  const { at, byteLength } = sectionOf(file, sections, 4, 'coefficients');
  if (byteLength < COUNT_BYTES) throw badArgument(`${name} is cut off: it has ${byteLength} bytes`);
  const count = numbersOf(await file.read(at, at + COUNT_BYTES)).getUint32(0, true);
  if (byteLength !== COUNT_BYTES + count * ENTRY_BYTES) {
    throw badArgument(`${name} has ${byteLength} bytes, but says ${count} entries of ${ENTRY_BYTES}`);
  }
  const entries = new Entries(count);
  for (let first = 0; first < count; first += ENTRIES_PER_CHUNK) {
    const end = Math.min(count, first + ENTRIES_PER_CHUNK);
    const start = at + COUNT_BYTES;
    const chunk = numbersOf(await file.read(start + first * ENTRY_BYTES, start + end * ENTRY_BYTES));
    for (let i = first; i < end; i++) {
      const from = (i - first) * ENTRY_BYTES;
      const [matrix, row, column] = [
        chunk.getUint32(from, true),
        chunk.getUint32(from + 4, true),
        chunk.getUint32(from + 8, true),
      ];
      if (matrix > 1 || row >= domainSize || column >= variables) {
        throw badArgument(
          `${name}: entry ${i} is in matrix ${matrix}, row ${row}, column ${column}; there are 2 matrices of ${domainSize} × ${variables}`,
        );
      }
      entries.add(matrix === 0, row, column, chunk, from);
    }
    await afterChunk();
  }
  return entries.matrices(domainSize, variables);
};
