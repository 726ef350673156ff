/** Rows: sums of the entries of a sparse matrix; matrices on a device, and products with them. */
import template from '../../../wgsl/fields/rows.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
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

/** A matrix on a device. */
export interface PlacedRows {
  readonly levels: readonly RowLevel[];
  readonly columns: Part;
  /** Index of each entry's value. */
  readonly valueIndices: Part;
  /** The different values. */
  readonly values: Part;
  readonly entries: number;
}

/** A matrix on a device, as offsets in its buffer. */
export interface PlacedMatrix extends PlacedRows {
  readonly buffer: VectorBuffer;
}

/** Entries sorted by row. */
interface SortedRows {
  /** First entry of each sum, by level. */
  readonly levels: readonly Uint32Array<ArrayBuffer>[];
  readonly columns: Uint32Array<ArrayBuffer>;
  readonly valueIndices: Uint32Array<ArrayBuffer>;
}

/** Sorts entries by row, in steps. */
export function* sortRows({ rows, row, column, value }: PackedEntries): Generator<void, SortedRows> {
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
  return { levels: yield* rowLevels(starts), columns, valueIndices };
}

/** Emits matrix·a into new scratch. */
export const emitMatrixProduct = (emit: Emitter, { levels, entries, ...of }: PlacedRows, a: Part): Part => {
  const { columns, valueIndices, values } = of;
  let from = a;
  for (const [k, { starts, sums }] of levels.entries()) {
    const out = emit.take(sums);
    const config = RowsConfig.pack({ rows: sums, has_values: Number(k === 0) });
    const bindings = { starts, columns, value_indices: valueIndices, values, a: from, out };
    const groups = groupsFor(sums, THREADS);
    emit.dispatch({ kernel: emit.setup.kernels.rows(), config, bindings, groups }, k === 0 ? entries : 0);
    if (k > 0) emit.release(from);
    from = out;
  }
  return from;
};

/** Binds the parts of a matrix. */
export const boundRows = (emit: Emitter, { buffer, levels, entries, ...of }: PlacedMatrix): PlacedRows => {
  const bound = ({ offset, size }: Part): Part => emit.bind(buffer.buffer, offset, size);
  return {
    ...{ entries, columns: bound(of.columns), valueIndices: bound(of.valueIndices), values: bound(of.values) },
    levels: levels.map(({ starts, sums }) => ({ starts: bound(starts), sums })),
  };
};
