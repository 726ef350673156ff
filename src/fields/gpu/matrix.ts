/** Sparse matrices on a device, and products with them. */
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { RowsConfig, rowLevels } from '../stages/rows.js';
import type { Emitter, Part } from './emitter.js';
import type { VectorBuffer } from './vector-buffer.js';

/** Sums of entries, or of sums of the level before. */
export interface RowLevel {
  readonly starts: Part;
  readonly sums: number;
}

/** A matrix on a device. */
export interface PlacedRows {
  readonly levels: readonly RowLevel[];
  readonly columns: Part;
  readonly values: Part;
  readonly entries: number;
}

/** A matrix on a device, as offsets in its buffer. */
export interface PlacedMatrix extends PlacedRows {
  readonly buffer: VectorBuffer;
}

/** Entries sorted by row. */
export interface SortedRows {
  /** First entry of each sum, by level. */
  readonly levels: readonly Uint32Array<ArrayBuffer>[];
  readonly columns: Uint32Array<ArrayBuffer>;
  readonly words: Uint32Array<ArrayBuffer>;
}

/** Sorts entries by row. @param perNumber words of a value */
export const sortRows = (
  rows: number,
  row: Uint32Array,
  column: Uint32Array,
  words: Uint32Array,
  perNumber: number,
): SortedRows => {
  const starts = new Uint32Array(rows + 1);
  for (const each of row) starts[each + 1] = (starts[each + 1] as number) + 1;
  for (let i = 0; i < rows; i++) starts[i + 1] = (starts[i + 1] as number) + (starts[i] as number);
  const next = starts.slice();
  const columns = new Uint32Array(column.length);
  const sorted = new Uint32Array(words.length);
  for (const [i, own] of row.entries()) {
    const at = next[own] as number;
    next[own] = at + 1;
    columns[at] = column[i] as number;
    sorted.set(words.subarray(i * perNumber, (i + 1) * perNumber), at * perNumber);
  }
  return { levels: rowLevels(starts), columns, words: sorted };
};

/** Emits matrix·a into new scratch. */
export const emitMatrixProduct = (emit: Emitter, { levels, columns, values, entries }: PlacedRows, a: Part): Part => {
  let from = a;
  for (const [k, { starts, sums }] of levels.entries()) {
    const out = emit.take(sums);
    const config = RowsConfig.pack({ rows: sums, has_values: Number(k === 0) });
    const bindings = { starts, columns, values, a: from, out };
    emit.dispatch(emit.setup.kernels.rows(), config, bindings, groupsFor(sums, THREADS), k === 0 ? entries : 0);
    if (k > 0) emit.release(from);
    from = out;
  }
  return from;
};

/** Binds the parts of a matrix. */
export const boundRows = (emit: Emitter, { buffer, levels, columns, values, entries }: PlacedMatrix): PlacedRows => {
  const bound = ({ offset, size }: Part): Part => emit.bind(buffer.buffer, offset, size);
  return {
    ...{ entries, columns: bound(columns), values: bound(values) },
    levels: levels.map(({ starts, sums }) => ({ starts: bound(starts), sums })),
  };
};
