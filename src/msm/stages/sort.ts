import template from '../../../wgsl/msm/sort.wgsl?template';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Binding, Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { entryWgsl } from './entry.js';

/** Config of a pass of the radix sort. */
export const SortConfig = struct('SortConfig', {
  row_length: 'n: entries of a window row, absent ones included',
  tiles: 'tiles of a window row',
  first_window: 'the first window of the group',
  buckets: 'B: keys of a window',
  shift: 'lowest key bit that this pass sorts by',
  mask: 'mask of the bits that this pass sorts by',
  first_pass: '1 in the first pass, where rows are full and hold absent entries',
  last_pass: '1 in the last pass, which writes windows contiguously, with global keys',
});

/**
 * Key bits that one pass of the radix sort distributes by. Bins, passes, scratch and the range of
 * threads follow from it.
 */
export const RADIX_BITS = 6;
export const RADIX_BINS = 2 ** RADIX_BITS;

/** The most entries that one thread ranks. */
export const MOST_SORT_ENTRIES = 256;

/**
 * Workgroup memory that every device has (WebGPU's default maxComputeWorkgroupStorageSize), in
 * bytes.
 */
const WORKGROUP_BYTES = 16384;

/**
 * Bytes of workgroup memory: a 16-bit counter for each bin and thread, a word for each bin, and a
 * word for each thread.
 */
const workgroupBytes = (threads: number): number => 2 * RADIX_BINS * threads + 4 * RADIX_BINS + 4 * threads;

/**
 * The most threads, a power of two, whose counters fit the workgroup memory and whose tile is
 * counted by 16 bits.
 */
export const MOST_SORT_THREADS = ((): number => {
  const fits = (threads: number): boolean =>
    workgroupBytes(threads) <= WORKGROUP_BYTES && threads * MOST_SORT_ENTRIES < 2 ** 16;
  let threads = 1;
  while (fits(2 * threads)) threads *= 2;
  return threads;
})();

/** A pass that sorts by the bits [shift, shift + bits) of the key. */
export interface SortPass {
  readonly shift: number;
  readonly bits: number;
}

/**
 * Returns the fewest passes of at most RADIX_BITS bits that sort by `keyBits` bits. There is one
 * even for no bits, as a pass also removes absent entries.
 */
export const sortPasses = (keyBits: number): SortPass[] => {
  const count = Math.max(1, Math.ceil(keyBits / RADIX_BITS));
  return Array.from({ length: count }, (_, i) => {
    const shift = Math.floor((i * keyBits) / count);
    return { shift, bits: Math.floor(((i + 1) * keyBits) / count) - shift };
  });
};

/** The kernels of a pass, in their order. */
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
      bins: RADIX_BINS,
      radixBits: RADIX_BITS,
      columnWords: (RADIX_BINS / 2) * threads,
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
