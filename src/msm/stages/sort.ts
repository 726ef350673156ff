import template from '../../../wgsl/msm/sort.wgsl?template';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Binding, Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { entryWgsl } from './entry.js';

export const SortConfig = struct('SortConfig', {
  row_length: 'n: entries that a window has room for',
  tiles: 'tiles in a slab',
  first_window: 'the first window of the group',
  buckets: 'B: keys of a window',
  shift: 'lowest key bit that this pass sorts by',
  mask: 'bits that this pass sorts by, as a mask',
  first_pass: '1 where slabs are full and hold absent entries',
  last_pass: '1 where the windows go one behind the other, with global keys',
});

/** 64 bins × 64 threads × 16 bits = 8 KB of workgroup memory, half of what every device has. */
export const SORT_MAX_BITS = 6;
const BINS = 1 << SORT_MAX_BITS;

/** Bits [shift, shift + bits) of the key. */
export interface SortPass {
  readonly shift: number;
  readonly bits: number;
}

/** The fewest passes of at most SORT_MAX_BITS that sort by `keyBits` bits; one even for none, as it also compacts. */
export const sortPasses = (keyBits: number): SortPass[] => {
  const count = Math.max(1, Math.ceil(keyBits / SORT_MAX_BITS));
  return Array.from({ length: count }, (_, i) => {
    const shift = Math.floor((i * keyBits) / count);
    return { shift, bits: Math.floor(((i + 1) * keyBits) / count) - shift };
  });
};

export interface SortKernels {
  readonly count: Kernel;
  readonly scan: Kernel;
  readonly scatter: Kernel;
}

export const sortKernels = (threads: number, perThread: number): SortKernels => {
  const entries: Binding = { name: 'entries', access: 'read', type: 'array<Entry>' };
  const totals = (access: 'read' | 'write'): Binding => ({ name: 'totals', access, type: 'array<u32>' });
  const counts = (access: 'read' | 'write'): Binding => ({ name: 'counts', access, type: 'array<u32>' });
  const make = (part: 'count' | 'scan' | 'scatter', bindings: readonly Binding[]): Kernel =>
    stageKernel(`sort_${part}`, template, SortConfig, bindings, {
      entry: entryWgsl,
      threads,
      perThread,
      bins: BINS,
      maxBits: SORT_MAX_BITS,
      columnWords: (BINS / 2) * threads,
      hasColumns: part !== 'scan',
      count: part === 'count',
      scan: part === 'scan',
      scatter: part === 'scatter',
    });
  return {
    count: make('count', [entries, totals('read'), counts('write')]),
    scan: make('scan', [totals('write'), counts('write')]),
    scatter: make('scatter', [
      entries,
      totals('read'),
      counts('read'),
      { name: 'sorted', access: 'write', type: 'array<Entry>' },
    ]),
  };
};
