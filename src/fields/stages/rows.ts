/** Rows: sums of the entries of a sparse matrix. */
import template from '../../../wgsl/fields/rows.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { elementPartials, elementView, THREADS, vectorBinding } from './element.js';

export const RowsConfig = struct('RowsConfig', {
  rows: 'number of sums',
  has_values: '1: entries are values times elements of a; 0: they are elements of a in a row',
});

/** Most entries of a sum. A longer row is cut, so that no thread has much more work than others. */
export const MOST_ENTRIES = 32;

/**
 * Cuts rows into sums of at most `MOST_ENTRIES` entries. The next level adds up the sums of each
 * row, and so on until there is one sum for each row.
 *
 * @param starts first entry of each row, and the number of entries
 * @returns the starts of each level
 */
export const rowLevels = (starts: Uint32Array): Uint32Array<ArrayBuffer>[] => {
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
    }
    next[rows] = cut.length;
    levels.push(Uint32Array.from([...cut, bounds[rows] as number]));
    if (cut.length === rows) return levels;
    bounds = next;
  }
};

export const rowsKernel = (field: Modulus): Kernel =>
  stageKernel(
    'rows',
    template,
    RowsConfig,
    [
      { name: 'starts', access: 'read', type: 'array<u32>' },
      { name: 'columns', access: 'read', type: 'array<u32>' },
      vectorBinding('values', 'read'),
      vectorBinding('a', 'read'),
      vectorBinding('out', 'write'),
    ],
    elementView(field, THREADS),
    elementPartials,
  );
