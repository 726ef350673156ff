import template from '../../../wgsl/msm/sort.wgsl?template';
import type { Tuning } from '../../api/device.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Binding, type Kernel, struct } from '../../shaders/kernel.js';
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
 * Most key bits that one pass of the radix sort distributes by. Bins, passes and scratch follow
 * from it.
 */
export const RADIX_BITS = 6;

/** The most entries that one thread ranks. */
export const MOST_SORT_ENTRIES = 256;

/**
 * The most entries that a thread holds in registers; a thread of more entries reads them twice. So
 * many fit the counters of 8 bits of HELD_GROUP threads.
 */
export const MOST_HELD_ENTRIES = 16;
const HELD_GROUP = 8;

/**
 * The most threads, a power of two, whose counters of 8 bits, or of 16 bits where a thread reads
 * its entries twice, fit the workgroup memory that every device has (WebGPU's default
 * maxComputeWorkgroupStorageSize, 16,384 bytes) beside a few words for each bin and thread.
 */
export const MOST_SORT_THREADS = 128;
const MOST_TWICE_READING_THREADS = 64;

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

/** Fields of the tuning that the sort depends on. */
type SortKnobs = Pick<Tuning, 'sortThreadsPerWorkgroup' | 'sortEntriesPerThread'>;

/** Shape of the kernels of a sort. */
export interface SortShape {
  readonly threads: number;
  /** Entries that one thread ranks. */
  readonly perThread: number;
  /** Bins of a pass. */
  readonly bins: number;
}

/**
 * Returns the shape for the keys of a plan. Half of the bins do where no pass needs more: each of
 * them costs every thread a counter.
 */
export const sortShape = (
  { sortThreadsPerWorkgroup, sortEntriesPerThread: perThread }: SortKnobs,
  keyBits: number,
): SortShape => {
  const most = perThread <= MOST_HELD_ENTRIES ? MOST_SORT_THREADS : MOST_TWICE_READING_THREADS;
  const halves = sortPasses(keyBits).every(({ bits }) => bits < RADIX_BITS);
  return { threads: Math.min(sortThreadsPerWorkgroup, most), perThread, bins: 2 ** RADIX_BITS / (halves ? 2 : 1) };
};

/** Returns the tiles of a window row, each the share of one workgroup. */
export const sortTiles = (rowLength: number, { threads, perThread }: SortShape): number =>
  Math.ceil(rowLength / (threads * perThread));

/** The kernels of a pass, in their order. */
export interface SortKernels {
  readonly count: Kernel;
  readonly scan: Kernel;
  readonly scatter: Kernel;
}

export const sortKernels = ({ threads, perThread, bins }: SortShape): SortKernels => {
  const held = perThread <= MOST_HELD_ENTRIES;
  const perWord = held ? 4 : 2;
  const copies = held ? 4 : 1;
  const group = held ? Math.min(HELD_GROUP, threads) : threads;
  const groups = Math.ceil(threads / group);
  const counterWords = (bins / perWord) * threads;
  const entries: Binding = { name: 'entries', access: 'read', type: 'array<Entry>' };
  const totals = (access: 'read' | 'write'): Binding => ({ name: 'totals', access, type: 'array<u32>' });
  const counts = (access: 'read' | 'write', type = 'array<u32>'): Binding => ({ name: 'counts', access, type });
  const make = (part: 'count' | 'scan' | 'scatter', bindings: readonly Binding[]): Kernel =>
    stageKernel(`sort_${part}`, template, SortConfig, bindings, {
      entry: entryWgsl,
      threads,
      perThread,
      bins,
      radixBits: RADIX_BITS,
      held,
      perWord,
      group,
      groups,
      sharers: Math.min(threads, 16),
      columnWords: held ? Math.max(counterWords, threads * perThread) : counterWords,
      placeWords: groups * bins,
      copies,
      counters: bins * copies,
      sumWords: 2 * threads,
      hasTiles: part !== 'scan',
      count: part === 'count',
      scan: part === 'scan',
      scatter: part === 'scatter',
    });
  return {
    count: make('count', [entries, totals('read'), counts('write')]),
    scan: make('scan', [totals('write'), counts('write', 'array<vec4<u32>>')]),
    scatter: make('scatter', [
      entries,
      totals('read'),
      counts('read'),
      { name: 'sorted', access: 'write', type: 'array<Entry>' },
    ]),
  };
};
