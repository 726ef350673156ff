/** Rows: sums of the entries of a sparse matrix; matrices on a device, and products with them. */
import template from '../../../wgsl/fields/rows.wgsl?template';
import { MsmError } from '../../errors.js';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { aligned, groupsFor, itemsPerBindingStep } from '../../shaders/limits.js';
import { ENTRIES_PER_STEP, type PackedEntries } from '../program/entries.js';
import { elementPartials, elementView, THREADS, vectorBinding } from './element.js';
import type { Emitter, Part } from './emitter.js';
import type { VectorBuffer } from './vector-buffer.js';

const RowsConfig = struct('RowsConfig', {
  rows: 'number of sums',
  has_values: '1: entries are values times elements of a; 0: they are elements of a in a row',
});

/** Most entries of a sum. A longer row is cut, so that no thread has much more work than others. */
const MOST_ENTRIES = 32;

/**
 * Cuts rows into sums of at most `MOST_ENTRIES` entries. The next level adds up the sums of each
 * row, and so on until there is one sum for each row.
 *
 * @param starts first entry of each row, and the number of entries
 * @returns the starts of each level
 */
function* rowLevels(starts: Uint32Array): Generator<void, Uint32Array<ArrayBuffer>[]> {
  const rows = starts.length - 1;
  const levels: Uint32Array<ArrayBuffer>[] = [];
  for (let bounds = starts; ; ) {
    const cut: number[] = [];
    const next = new Uint32Array(rows + 1);
    for (let row = 0; row < rows; row++) {
      next[row] = cut.length;
      const [first, end] = [bounds[row] as number, bounds[row + 1] as number];
      // a row without entries is a sum as well
      for (let at = first; at === first || at < end; at += MOST_ENTRIES) cut.push(at);
      if (row % ENTRIES_PER_STEP === 0) yield;
    }
    next[rows] = cut.length;
    const level = new Uint32Array(cut.length + 1);
    level.set(cut);
    level[cut.length] = bounds[rows] as number;
    levels.push(level);
    if (cut.length === rows) return levels;
    bounds = next;
  }
}

export const rowsKernel = (field: Modulus): Kernel =>
  stageKernel({
    name: 'rows',
    template,
    config: RowsConfig,
    bindings: [
      { name: 'starts', access: 'read', type: 'array<u32>' },
      { name: 'columns', access: 'read', type: 'array<u32>' },
      { name: 'value_indices', access: 'read', type: 'array<u32>' },
      vectorBinding('values', 'read'),
      vectorBinding('a', 'read'),
      vectorBinding('out', 'write'),
    ],
    view: elementView(field, THREADS),
    partials: elementPartials,
  });

/** Sums of entries, or of sums of the level before. */
interface RowLevel {
  readonly starts: Part;
  readonly sums: number;
}

/** Some rows of a matrix on a device. */
interface RowsPart {
  /** The first row, whose sum may begin a binding, and the number of rows. */
  readonly first: number;
  readonly rows: number;
  readonly levels: readonly RowLevel[];
  readonly columns: Part;
  /** Index of each entry's value. */
  readonly valueIndices: Part;
  /** The different values. */
  readonly values: Part;
  readonly entries: number;
}

/** A matrix on a device: all its rows, in as many parts as bindings have room for. */
export interface PlacedRows<Of extends RowsPart = RowsPart> {
  readonly rows: number;
  readonly parts: readonly Of[];
}

/** Some rows in a buffer, as offsets in it. */
export interface PlacedPart extends RowsPart {
  readonly buffer: VectorBuffer;
}

/** A matrix on a device, part by part in buffers. */
export type PlacedMatrix = PlacedRows<PlacedPart>;

/* Matrices in main memory, sorted and cut. */

/** Sizes that decide where a matrix is cut. */
export interface CutSizes {
  /** Words of a value in main memory, and bytes of an element on the device. */
  readonly perNumber: number;
  readonly elementBytes: number;
  /** Most bytes of a part, and of the sums of its first level. */
  readonly mostBytes: number;
}

/** Some rows of a matrix, their entries in order. */
export interface SortedRows {
  readonly first: number;
  readonly rows: number;
  /** First entry of each sum, by level. */
  readonly levels: readonly Uint32Array<ArrayBuffer>[];
  readonly columns: Uint32Array<ArrayBuffer>;
  readonly valueIndices: Uint32Array<ArrayBuffer>;
  /** The different values as words. */
  readonly values: Uint32Array<ArrayBuffer>;
}

/** Entries of all rows, in order. */
interface SortedEntries {
  /** First entry of each row, and the number of entries. */
  readonly starts: Uint32Array<ArrayBuffer>;
  readonly columns: Uint32Array<ArrayBuffer>;
  readonly valueIndices: Uint32Array<ArrayBuffer>;
}

function* sortEntries({ rows, row, column, value }: PackedEntries): Generator<void, SortedEntries> {
  const starts = new Uint32Array(rows + 1);
  for (let i = 0; i < row.length; i++) {
    const end = (row[i] as number) + 1;
    starts[end] = (starts[end] as number) + 1;
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  for (let i = 0; i < rows; i++) {
    starts[i + 1] = (starts[i + 1] as number) + (starts[i] as number);
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  const next = starts.slice();
  const columns = new Uint32Array(column.length);
  const valueIndices = new Uint32Array(value.length);
  for (let i = 0; i < row.length; i++) {
    const own = row[i] as number;
    const at = next[own] as number;
    next[own] = at + 1;
    columns[at] = column[i] as number;
    valueIndices[at] = value[i] as number;
    if (i % ENTRIES_PER_STEP === 0) yield;
  }
  return { starts, columns, valueIndices };
}

/** Counts what rows take on a device. */
class RowsSize {
  values = 0;
  #rows = 0;
  #entries = 0;
  /** Sums of each level beyond one for each row. */
  readonly #extra: number[] = [];

  copy(): RowsSize {
    const copy = new RowsSize();
    copy.values = this.values;
    copy.#rows = this.#rows;
    copy.#entries = this.#entries;
    copy.#extra.push(...this.#extra);
    return copy;
  }

  /** Adds a row. @param length number of its entries */
  add(length: number): void {
    this.#rows++;
    this.#entries += length;
    let sums = Math.ceil(length / MOST_ENTRIES);
    for (let level = 0; sums > 1; level++) {
      this.#extra[level] = (this.#extra[level] ?? 0) + sums - 1;
      sums = Math.ceil(sums / MOST_ENTRIES);
    }
  }

  /** Returns the bytes of the longest binding: of the part, or of the sums of its first level. */
  bytes(elementBytes: number): number {
    const lists = [Math.max(1, this.values) * elementBytes, 4 * this.#entries, 4 * this.#entries];
    for (const extra of [...this.#extra, 0]) lists.push(4 * (this.#rows + extra + 1));
    const placed = lists.reduce((sum, bytes) => sum + aligned(Math.max(4, bytes)), 0);
    return Math.max(placed, (this.#rows + (this.#extra[0] ?? 0)) * elementBytes);
  }
}

/**
 * Cuts rows into parts that a device binds, where the sums of a part may begin a binding.
 *
 * @returns the first row of each part, and the number of rows; null if a device binds all rows with all values
 * @throws MsmError `out-of-memory` if the rows between two such places are too long
 */
function* cutRows(
  { starts, valueIndices }: SortedEntries,
  valueCount: number,
  { elementBytes, mostBytes }: CutSizes,
): Generator<void, number[] | null> {
  const rows = starts.length - 1;
  const at = (row: number): number => starts[row] as number;
  const all = new RowsSize();
  all.values = valueCount;
  for (let row = 0; row < rows; row++) {
    all.add(at(row + 1) - at(row));
    if (row % ENTRIES_PER_STEP === 0) yield;
  }
  if (all.bytes(elementBytes) <= mostBytes) return null;
  const firsts = [0];
  /** The last part that has each value, from 1. */
  const seen = new Uint32Array(valueCount);
  const withRows = (part: RowsSize, first: number, end: number): RowsSize => {
    const grown = part.copy();
    for (let row = first; row < end; row++) grown.add(at(row + 1) - at(row));
    for (let i = at(first); i < at(end); i++) {
      const value = valueIndices[i] as number;
      if (seen[value] !== firsts.length) grown.values++;
      seen[value] = firsts.length;
    }
    return grown;
  };
  const step = itemsPerBindingStep(elementBytes);
  let part = new RowsSize();
  let since = 0;
  for (let first = 0; first < rows; first += step) {
    const end = Math.min(rows, first + step);
    let grown = withRows(part, first, end);
    if (grown.bytes(elementBytes) > mostBytes && first > (firsts.at(-1) as number)) {
      firsts.push(first);
      grown = withRows(new RowsSize(), first, end);
    }
    const bytes = grown.bytes(elementBytes);
    if (bytes > mostBytes) {
      throw new MsmError(
        'out-of-memory',
        `rows ${first} to ${end - 1} of the matrix take ${bytes} bytes on the GPU, which binds ${mostBytes} at a time; compute with the matrix on the CPU`,
      );
    }
    part = grown;
    since += step + at(end) - at(first);
    if (since >= ENTRIES_PER_STEP) yield;
    since %= ENTRIES_PER_STEP;
  }
  return [...firsts, rows];
}

/**
 * Sorts entries by row, in steps, and cuts the rows into parts that a device binds.
 *
 * @throws MsmError `out-of-memory` if a few rows are longer than that
 */
export function* sortRows(entries: PackedEntries, sizes: CutSizes): Generator<void, SortedRows[]> {
  const { perNumber } = sizes;
  const { values } = entries;
  const sorted = yield* sortEntries(entries);
  const { starts, columns, valueIndices } = sorted;
  const valueCount = values.length / perNumber;
  const firsts = yield* cutRows(sorted, valueCount, sizes);
  if (firsts === null) {
    const levels = yield* rowLevels(starts);
    return [{ first: 0, rows: entries.rows, levels, columns, valueIndices, values }];
  }
  const parts: SortedRows[] = [];
  /** Indices of values among those of a part, plus 1. */
  const indices = new Uint32Array(valueCount);
  for (let k = 1; k < firsts.length; k++) {
    const [first, end] = firsts.slice(k - 1, k + 1) as [number, number];
    const [from, to] = [starts[first] as number, starts[end] as number];
    const used: number[] = [];
    for (let i = from; i < to; i++) {
      const value = valueIndices[i] as number;
      if (indices[value] === 0) indices[value] = used.push(value);
      valueIndices[i] = (indices[value] as number) - 1;
      if (i % ENTRIES_PER_STEP === 0) yield;
    }
    // a binding is not empty
    const words = new Uint32Array(Math.max(1, used.length) * perNumber);
    for (const [i, value] of used.entries()) {
      words.set(values.subarray(value * perNumber, (value + 1) * perNumber), i * perNumber);
      indices[value] = 0;
      if (i % ENTRIES_PER_STEP === 0) yield;
    }
    parts.push({
      first,
      rows: end - first,
      levels: yield* rowLevels(starts.slice(first, end + 1).map((start) => start - from)),
      columns: columns.subarray(from, to),
      valueIndices: valueIndices.subarray(from, to),
      values: words,
    });
  }
  return parts;
}

/* Products. */

/** Emits matrix·a into new scratch. */
export const emitMatrixProduct = (emit: Emitter, { rows, parts }: PlacedRows, a: Part): Part => {
  const out = emit.take(rows);
  for (const part of parts) {
    emitRows(emit, part, a, { ...out, offset: part.first * emit.bytes, size: part.rows * emit.bytes });
  }
  return out;
};

/** Emits the products of some rows. */
const emitRows = (emit: Emitter, { levels, entries, ...of }: RowsPart, a: Part, sumsOfRows: Part): void => {
  const { columns, valueIndices, values } = of;
  let from = a;
  for (const [k, { starts, sums }] of levels.entries()) {
    const out = k === levels.length - 1 ? sumsOfRows : emit.take(sums);
    const config = RowsConfig.pack({ rows: sums, has_values: Number(k === 0) });
    const bindings = { starts, columns, value_indices: valueIndices, values, a: from, out };
    const groups = groupsFor(sums, THREADS);
    emit.dispatch({ kernel: emit.setup.kernels.rows(), config, bindings, groups }, k === 0 ? entries : 0);
    if (k > 0) emit.release(from);
    from = out;
  }
};

/** Binds the parts of a matrix. */
export const boundRows = (emit: Emitter, { rows, parts }: PlacedMatrix): PlacedRows => ({
  rows,
  parts: parts.map(({ buffer, first, rows: count, entries, levels, ...of }) => {
    const bound = ({ offset, size }: Part): Part => emit.bind(buffer.buffer, offset, size);
    return {
      ...{ first, rows: count, entries },
      ...{ columns: bound(of.columns), valueIndices: bound(of.valueIndices), values: bound(of.values) },
      levels: levels.map(({ starts, sums }) => ({ starts: bound(starts), sums })),
    };
  }),
});
