/**
 * The radix sort alone, at the limits of its arithmetic: full tiles whose entries all fall into one
 * bin, or into two bins that share a word of counters; sizes around a tile; keys at both ends of
 * their range; groups of threads that are not full.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import { Runner } from '../../src/gpu/runner.js';
import { ABSENT, ENTRY_WORDS } from '../../src/msm/stages/entry.js';
import {
  MOST_HELD_ENTRIES,
  MOST_SORT_ENTRIES,
  MOST_SORT_THREADS,
  RADIX_BITS,
  SortConfig,
  type SortKernels,
  type SortShape,
  sortKernels,
  sortPasses,
  sortShape,
  sortTiles,
} from '../../src/msm/stages/sort.js';
import type { Command } from '../../src/shaders/kernel.js';
import { sort } from '../reference/sort.js';
import { getDevice } from '../support/gpu.js';

let runner: Runner;
beforeAll(async () => {
  runner = new Runner(await getDevice(), Number.POSITIVE_INFINITY);
});
afterAll(() => runner?.destroy());

interface Shape {
  readonly rowLength: number;
  readonly windows: number;
  readonly keyBits: number;
  readonly firstWindow: number;
  readonly threads: number;
  readonly perThread: number;
}

const kernels = new Map<string, SortKernels>();
const kernelsOf = (shape: SortShape): SortKernels => {
  const key = JSON.stringify(shape);
  const made = kernels.get(key) ?? sortKernels(shape);
  kernels.set(key, made);
  return made;
};

const sortOnGpu = async (entries: Uint32Array, shape: Shape): Promise<{ sorted: Uint32Array; totals: Uint32Array }> => {
  const { rowLength, windows, keyBits, threads, perThread } = shape;
  const sized = sortShape({ sortThreadsPerWorkgroup: threads, sortEntriesPerThread: perThread }, keyBits);
  const { count, scan, scatter } = kernelsOf(sized);
  const tiles = sortTiles(rowLength, sized);
  const passes = sortPasses(keyBits);
  const buffer = (name: string) => ({ buffer: name });
  const commands = passes.flatMap(({ shift, bits }, pass): Command[] => {
    const [from, to] = pass % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
    const config = SortConfig.pack({
      row_length: rowLength,
      tiles,
      first_window: shape.firstWindow,
      buckets: 2 ** keyBits,
      shift,
      mask: 2 ** bits - 1,
      first_pass: pass === 0 ? 1 : 0,
      last_pass: pass === passes.length - 1 ? 1 : 0,
    });
    const common = { totals: buffer('totals'), counts: buffer('counts') };
    const entriesIn = { ...common, entries: buffer(from as string) };
    const dispatch = { kind: 'dispatch', phase: 'sort', config } as const;
    return [
      { ...dispatch, kernel: count, bindings: entriesIn, groups: [tiles, windows] },
      { ...dispatch, kernel: scan, bindings: common, groups: [windows, 1] },
      {
        ...dispatch,
        kernel: scatter,
        bindings: { ...entriesIn, sorted: buffer(to as string) },
        groups: [tiles, windows],
      },
    ];
  });
  const bytes = 4 * ENTRY_WORDS * rowLength * windows;
  const scratch = { a: bytes, b: bytes, counts: 4 * windows * sized.bins * tiles, totals: 4 * windows };
  const poison = Object.entries(scratch).map(([name, size]) => ({
    to: { buffer: name },
    data: new Uint32Array(size / 4).fill(0xdeadbeef),
  }));
  const result = passes.length % 2 === 0 ? 'a' : 'b';
  const { data } = await runner.run({
    scratch,
    uploads: [...poison, { to: { buffer: 'a' }, data: entries }],
    commands,
    read: [
      { buffer: result, size: scratch[result] },
      { buffer: 'totals', size: scratch.totals },
    ],
  });
  const [sorted, totals] = data as [Uint32Array, Uint32Array];
  return { sorted, totals };
};

/** Returns the key of entry i of a window row, or null for an absent entry. */
type Keys = (i: number, rowLength: number, random: Random) => number | null;
const top = (bits: number): number => 2 ** bits - 1;
const patterns = (bits: number): Record<string, Keys> => ({
  'one key for all': () => top(bits) >> 1,
  'the highest key for all': () => top(bits),
  // bins 2k and 2k + 1 count in the two halves of one word
  'two keys in turn': (i) => i % 2,
  'two keys, one after the other': (i) => (i < 8200 ? 1 : 0),
  'descending keys': (i) => Math.max(0, top(bits) - i),
  'random keys, some absent': (_, __, random) => (random.below(5) === 0 ? null : random.below(2 ** bits)),
  'nothing but absent entries': () => null,
  'one entry, the last': (i, rowLength) => (i === rowLength - 1 ? 0 : null),
});

const check = async (shape: Shape, keys: Keys): Promise<void> => {
  const { rowLength, windows } = shape;
  const random = new Random(51);
  const entries = new Uint32Array(ENTRY_WORDS * rowLength * windows);
  for (let i = 0; i < rowLength * windows; i++) {
    const key = keys(i % rowLength, rowLength, random);
    // the key of an absent entry is arbitrary, as decompose leaves it
    entries.set(key === null ? [0xffffffff, ABSENT] : [key, i], ENTRY_WORDS * i);
  }
  const expected = sort(entries, { rowLength, windows, buckets: 2 ** shape.keyBits, firstWindow: shape.firstWindow });
  const { sorted, totals } = await sortOnGpu(entries, shape);
  expect(totals).toEqual(expected.totals);
  const length = expected.sorted.length;
  expect(sorted.subarray(0, length).findIndex((word, i) => word !== expected.sorted[i])).toBe(-1);
};

/** The largest shape of each form of the kernels, with all bins and with half of them. */
describe.each([
  ['held by threads', MOST_SORT_THREADS, MOST_HELD_ENTRIES, RADIX_BITS + 3],
  ['held by threads', MOST_SORT_THREADS, MOST_HELD_ENTRIES, 2 * RADIX_BITS],
  ['read twice', 64, MOST_SORT_ENTRIES, RADIX_BITS + 3],
  ['read twice', 64, MOST_HELD_ENTRIES + 1, 2 * RADIX_BITS],
])('entries %s, %i threads of %i, keys of %i bits', (_, threads, perThread, keyBits) => {
  const tile = threads * perThread;
  const shape = { keyBits, windows: 2, firstWindow: 3, threads, perThread };
  test.each(Object.entries(patterns(keyBits)))('%s are sorted', async (_, keys) => {
    for (const rowLength of [tile - 1, tile, tile + 5]) await check({ ...shape, rowLength }, keys);
  });
});

describe('counts of several stretches of the scan, of which the last is not full', () => {
  test.each([3, 4, 5, 8, 11, 32, 100])('%i threads', async (threads) => {
    // a thread takes 16 counts at a time, and each tile has 32 of them
    const tiles = 2 * threads + 1;
    expect((32 * tiles) % (16 * threads)).not.toBe(0);
    const shape = { keyBits: 5, windows: 2, firstWindow: 1, threads, perThread: 1, rowLength: tiles * threads };
    const { 'descending keys': descending, 'random keys, some absent': random } = patterns(5);
    for (const keys of [descending, random]) await check(shape, keys as Keys);
  });
});

describe.each([
  [5, 3],
  [11, 2],
  [3, 17],
])('many small tiles: %i threads of %i entries', (threads, perThread) => {
  const tile = threads * perThread;
  const shape = { windows: 3, firstWindow: 0, threads, perThread };
  test.each([1, RADIX_BITS, RADIX_BITS + 1, 2 * RADIX_BITS, 2 * RADIX_BITS + 1, 15])(
    'keys of %i bits are sorted',
    async (keyBits) => {
      for (const rowLength of [1, 2, tile - 1, tile, tile + 1, 300]) {
        for (const keys of Object.values(patterns(keyBits))) {
          // keys are cut to the given bits, as the sort never gets longer ones
          await check({ ...shape, rowLength, keyBits }, (...at) => {
            const key = keys(...at);
            return key === null ? null : key & top(keyBits);
          });
        }
      }
    },
  );
});
