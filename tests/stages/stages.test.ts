import { describe, expect, test } from 'vitest';
import { type CaseOf, makeCase } from '../../dev/cases/msm-case.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { accountsOf, type GroupAccounts } from '../../src/msm/plan/planner.js';
import type { Knobs } from '../../src/msm/plan/tuning.js';
import { IN_A_ROW } from '../../src/msm/stages/decompose.js';
import { ABSENT, ENTRY_WORDS, Level } from '../../src/msm/stages/entry.js';
import { PartitionConfig } from '../../src/msm/stages/partition.js';
import { decompose } from '../reference/decompose.js';
import { digestOfSums } from '../reference/digest.js';
import { importPoints } from '../reference/import.js';
import { type PartitionValues, partition } from '../reference/partition.js';
import { readPoint } from '../reference/points.js';
import { reduce } from '../reference/reduce.js';
import { sort } from '../reference/sort.js';
import { walk } from '../reference/walk.js';
import { getDevice } from '../support/gpu.js';
import { StageBench } from '../support/stage-bench.js';

const curve = curveContext(bn254);
const words = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.slice().buffer);

/**
 * Small shapes with few entries per task, odd numbers of slots, and workgroups that are not full.
 */
const shapes: Record<string, { address: CaseOf; tuning: Knobs }> = {
  'random, many levels': {
    address: { points: 'distinct', scalars: 'random', n: 300, seed: 1 },
    tuning: {
      windowBits: 5,
      walkerEntriesPerTask: 3,
      walkerSlots: 5,
      walkerThreadsPerWorkgroup: 7,
      walkerLeastThreads: 1,
    },
  },
  'one hot bucket': {
    address: { points: 'all-equal', scalars: 'all-equal', n: 257, seed: 2 },
    tuning: {
      windowBits: 7,
      walkerEntriesPerTask: 4,
      walkerSlots: 16,
      walkerThreadsPerWorkgroup: 3,
      walkerLeastThreads: 9,
    },
  },
  'pairs P, -P in one bucket': {
    address: { points: 'pairs', scalars: 'all-equal', n: 128, seed: 3 },
    tuning: {
      windowBits: 8,
      walkerEntriesPerTask: 5,
      walkerSlots: 2,
      walkerThreadsPerWorkgroup: 64,
      walkerLeastThreads: 64,
      combineBits: 1,
    },
  },
  'infinities and few non-zero digits': {
    address: { points: 'with-infinities', scalars: 'mostly-zero', n: 200, seed: 4 },
    tuning: {
      windowBits: 9,
      walkerEntriesPerTask: 2,
      walkerSlots: 3,
      walkerThreadsPerWorkgroup: 32,
      walkerLeastThreads: 2,
    },
  },
  'nothing but zeros': {
    address: { points: 'distinct', scalars: 'all-zero', n: 65, seed: 5 },
    tuning: {
      windowBits: 4,
      walkerEntriesPerTask: 8,
      walkerSlots: 4,
      walkerThreadsPerWorkgroup: 16,
      walkerLeastThreads: 1,
    },
  },
  'one scalar': {
    address: { points: 'distinct', scalars: 'random', n: 1, seed: 6 },
    tuning: { windowBits: 16, walkerSlots: 8, walkerThreadsPerWorkgroup: 4, combineBits: 2 },
  },
};

/** Compares buffers; the matcher runs only where they differ, to show the difference. */
const expectWords = (got: Uint32Array, expected: Uint32Array, what?: string): void => {
  const bytes = ({ buffer, byteOffset, byteLength }: Uint32Array): Buffer =>
    Buffer.from(buffer, byteOffset, byteLength);
  if (!bytes(got).equals(bytes(expected))) expect(got, what).toEqual(expected);
};

/** Returns the results of the CPU references for a case, stage by stage. */
const runReferences = (address: CaseOf, bench: StageBench) => {
  const { plan } = bench;
  const { points, scalars } = makeCase(address);
  const scalarWords = words(scalars.bytes);
  const entries = decompose(curve, [{ scalars: scalarWords, firstBase: 0 }], {
    ...plan,
    windowBits: plan.tuning.windowBits,
  });
  const { sorted, totals } = sort(entries, { rowLength: address.n, windows: plan.windows, buckets: plan.buckets });
  const config = bench.stage('partition')[0]?.config as Uint32Array;
  const levels = partition(PartitionConfig.unpack(config, 0) as PartitionValues, totals);
  const bases = words(points.bytes);
  importPoints(curve, bases, 0);
  return { scalarWords, entries, sorted, totals, levels, bases };
};

const withBench = async (
  shape: { address: CaseOf; tuning: Knobs },
  use: (bench: StageBench, references: ReturnType<typeof runReferences>) => Promise<void>,
): Promise<void> => {
  const bases = words(makeCase(shape.address).points.bytes);
  importPoints(curve, bases, 0);
  const bench = new StageBench(await getDevice(), shape.address.n, shape.tuning, bases);
  try {
    await use(bench, runReferences(shape.address, bench));
  } finally {
    bench.destroy();
  }
};

/** Compares buckets, and reports of the first difference the writer and the expected entries. */
const compareSums = (
  name: string,
  got: Uint32Array,
  expected: Uint32Array,
  writers: Map<number, number[]>,
  stream: Uint32Array,
): void => {
  const size = curve.pointWords;
  for (let key = 0; key * size < expected.length; key++) {
    const range = [key * size, (key + 1) * size] as const;
    if (got.slice(...range).every((word, i) => word === expected[range[0] + i])) continue;
    const pointRefs: string[] = [];
    for (let i = 0; i < stream.length; i += ENTRY_WORDS) {
      if (stream[i] === key) pointRefs.push(`${i / ENTRY_WORDS}:0x${(stream[i + 1] as number).toString(16)}`);
    }
    const spell = (from: Uint32Array): string => {
      const point = readPoint(curve, from, key);
      return point === null ? 'infinity' : `(0x${point.x.toString(16)}, 0x${point.y.toString(16)})`;
    };
    throw new Error(
      `${name}: bucket ${key} differs\n  reference: ${spell(expected)}\n  GPU:  ${spell(got)}\n` +
        `  writers (tasks): ${writers.get(key)?.join(', ') ?? 'none'}\n  entries (index:handle): ${pointRefs.join(' ')}`,
    );
  }
};

const stages = (_: string, shape: (typeof shapes)[string]): void => {
  test('decompose equals its CPU reference', () =>
    withBench(shape, async (bench, { scalarWords, entries }) => {
      const got = await bench.run(
        bench.stage('decompose'),
        { scalars: scalarWords, vectors: Uint32Array.of(shape.address.n, 0, IN_A_ROW) },
        'entriesA',
        entries.length,
      );
      // keys of absent digits are arbitrary
      const relevant = (stream: Uint32Array): Uint32Array =>
        stream.map((word, i) => (i % ENTRY_WORDS === 0 && stream[i + 1] === ABSENT ? 0 : word));
      expectWords(relevant(got), relevant(entries));
    }));

  test('sort equals its CPU reference: the same stable permutation', () =>
    withBench(shape, async (bench, { entries, sorted, totals }) => {
      const target = bench.plan.sortPasses.length % 2 === 0 ? 'entriesA' : 'entriesB';
      const got = await bench.run(bench.stage('sort'), { entriesA: entries }, target, sorted.length);
      expectWords(got, sorted);
      expectWords(await bench.run(bench.stage('sort'), { entriesA: entries }, 'totals', totals.length), totals);
    }));

  test('partition equals its CPU reference', () =>
    withBench(shape, async (bench, { totals, levels }) => {
      expectWords(await bench.run(bench.stage('partition'), { totals }, 'levels', levels.length), levels);
      // the account has the number of entries
      const { length } = accountsOf(bench.plan, 0).groups[0] as GroupAccounts;
      const accounts = await bench.run(bench.stage('partition'), { totals }, 'accounts', 0);
      expect(accounts[length]).toBe(totals.reduce((sum, total) => sum + total, 0));
    }));

  const walksAlike = (walkerPrefixMemory: 'private' | 'workgroup'): Promise<void> =>
    withBench({ ...shape, tuning: { ...shape.tuning, walkerPrefixMemory } }, async (bench, references) => {
      const { plan } = bench;
      const sortedIn = plan.sortPasses.length % 2 === 0 ? 'entriesA' : 'entriesB';
      const sums = new Uint32Array((plan.windows * plan.buckets * curve.pointWords) | 0);
      const written = new Map<number, string>();
      let [stream, points] = [references.sorted, references.bases];
      const dispatches = [...bench.stage('walk'), ...bench.stage('combine')];
      expect(dispatches.length).toBe(plan.levelTasks.length);
      for (const [index, dispatch] of dispatches.entries()) {
        const level = Level.unpack(references.levels, index);
        const [from, to] = index % 2 === 0 ? (['B', 'A'] as const) : (['A', 'B'] as const);
        const fill = {
          levels: references.levels,
          buckets: sums.slice(),
          ...(index === 0
            ? { [sortedIn]: stream }
            : { [`carries${from}` as const]: stream, [`partials${from}` as const]: points }),
        };
        const expected = walk(curve, level, stream, points, sums);
        for (const [key, tasks] of expected.writers) {
          expect(tasks, `writers of bucket ${key}`).toHaveLength(1);
          expect(written.get(key), `bucket ${key} was written before`).toBeUndefined();
          written.set(key, `level ${index}, task ${tasks[0]}`);
        }
        const name = `level ${index}`;
        compareSums(name, await bench.run([dispatch], fill, 'buckets', sums.length), sums, expected.writers, stream);
        const { carries, partials } = expected;
        expect(await bench.run([dispatch], fill, `carries${to}`, carries.length), `${name} places`).toEqual(carries);
        expect(await bench.run([dispatch], fill, `partials${to}`, partials.length), `${name} partials`).toEqual(
          partials,
        );
        [stream, points] = [carries, partials];
      }
      // exactly one task of one level wrote every bucket that the sort filled
      const filled = new Set<number>();
      for (let i = 0; i < references.sorted.length; i += ENTRY_WORDS) filled.add(references.sorted[i] as number);
      expect([...written.keys()].sort((a, b) => a - b)).toEqual([...filled].sort((a, b) => a - b));
    });
  const title = 'walk and every combine level equal their CPU reference (%s)';
  test.each(['private'] as const)(title, walksAlike);
  test.each(['workgroup'] as const)(title, { tags: 'long' }, walksAlike);

  test('reduce lays out the same streams as its CPU reference', () =>
    withBench(shape, async (bench) => {
      const { plan } = bench;
      const expected = reduce(plan.windows, plan.reduce);
      const layout = bench.stage('reduce').slice(0, 1);
      expectWords(await bench.run(layout, {}, 'entriesA', expected.split.length), expected.split);
      const behind = ENTRY_WORDS * plan.reduce.foldFirst;
      const laid = await bench.run(layout, {}, 'entriesB', behind + expected.fold.length);
      expectWords(laid.slice(0, expected.bits.length), expected.bits);
      expectWords(laid.slice(behind), expected.fold);
    }));
};

const named = Object.entries(shapes);
describe.each(named.slice(0, 1))('%s', stages);
describe.each(named.slice(1))('%s', { tags: 'long' }, stages);

test('the digest of the last walk covers sums and their indices', () =>
  withBench(shapes['random, many levels'] as (typeof shapes)[string], async (bench, { bases, levels }) => {
    const { plan } = bench;
    const size = curve.pointWords;
    const buckets = Uint32Array.from(
      { length: plan.windows * plan.buckets * size },
      (_, i) => bases[i % bases.length] as number,
    );
    buckets.fill(0, size, 3 * size);
    const run = (read: 'accounts' | 'bitSums') => bench.run(bench.stage('reduce'), { buckets, levels }, read, 0);
    const sums = await run('bitSums');
    expect(sums).toHaveLength(plan.reduce.bitSums * size);
    const xs = Array.from({ length: plan.reduce.bitSums }, (_, i) => readPoint(curve, sums, i)?.x);
    expect(new Set(xs).size).toBeGreaterThan(xs.length / 2);
    expect((await run('accounts'))[accountsOf(plan, 0).readBack]).toBe(digestOfSums(sums, size));
  }));
