/**
 * The three rules of the segmented reduction (wgsl/msm/walk.wgsl, walk-xyzz.wgsl): which task
 * writes a key, and whether all entries of the key reach it. First on lists of point references,
 * where nothing cancels; then on points, on the CPU and on the GPU.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bn254G1, groupOrder, toAffinePoint } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { Runner } from '../../src/gpu/runner.js';
import { ABSENT, ENTRY_WORDS, INDEX_MASK, NEGATE } from '../../src/msm/stages/entry.js';
import { createKernels, type Kernels } from '../../src/msm/stages/kernels.js';
import { WalkConfig } from '../../src/msm/stages/walk.js';
import { extendedWords, WalkXyzzConfig } from '../../src/msm/stages/walk-xyzz.js';
import type { Command, Dispatch } from '../../src/shaders/kernel.js';
import { normalize } from '../reference/normalize.js';
import { readPoint, writePoint } from '../reference/points.js';
import { type Cut, type Walked, type WalkOf, walk, walkOf } from '../reference/walk.js';
import { walkXyzz } from '../reference/walk-xyzz.js';
import { getDevice } from '../support/gpu.js';
import { cutsOf, levelOf, pointRefsByKey, type Shape, shapes, streamOf } from '../support/walk-streams.js';

const curve = curveContext(bn254);
const { Point } = bn254G1;

/** Factor by which each level has fewer tasks, as on software adapters. */
const SHRINK = 16;

const keysOf = (stream: Uint32Array): number[] => [...stream].filter((_, i) => i % ENTRY_WORDS === 0);
const isSorted = (keys: readonly number[]): boolean =>
  keys.every((key, i) => i === 0 || (keys[i - 1] as number) <= key);

describe('the rules of the walk, on lists of point references', () => {
  /** Walks every level. Returns what arrived at each key, and the tasks that wrote it. */
  const arrivals = (stream: Uint32Array, tasks: number, shrink: number): Map<number, number[]> => {
    const arrived = new Map<number, number[]>();
    let [level, lists]: [Uint32Array, (number[] | null)[] | null] = [stream, null];
    for (const cut of cutsOf(stream.length / ENTRY_WORDS, tasks, shrink)) {
      const from: (number[] | null)[] | null = lists;
      const walked: WalkOf<number[]> = walkOf<number[]>(cut, level, (sum, pointRef) => [
        ...(sum ?? []),
        // a point reference of a later level is a partial sum, which has to exist
        ...(from === null ? [pointRef] : (from[pointRef] as number[])),
      ]);
      for (const [key, list] of walked.sums) {
        expect(walked.writers.get(key), `writers of key ${key}`).toHaveLength(1);
        expect(arrived.has(key), `key ${key} was written at an earlier level already`).toBe(false);
        arrived.set(key, list);
      }
      expect(walked.carries.length).toBe(2 * cut.tasks * ENTRY_WORDS);
      expect(isSorted(keysOf(walked.carries)), 'the places are a sorted stream').toBe(true);
      walked.partials.forEach((list, place) => {
        // a carry is present if and only if it has a sum, and refers to its own index
        expect(walked.carries[place * ENTRY_WORDS + 1]).toBe(list === null ? ABSENT : place);
      });
      [level, lists] = [walked.carries, walked.partials];
    }
    // the last walk has one task, so no run is open
    expect(lists?.every((list) => list === null)).toBe(true);
    return arrived;
  };

  test.each([2, 3, 4, SHRINK])(
    'every key has one writer, which has all of its entries in their order; shrink %i',
    (shrink) => {
      fc.assert(
        fc.property(shapes, fc.integer({ min: 1, max: 90 }), (shape, tasks) => {
          const stream = streamOf(shape, (i) => i);
          const arrived = arrivals(stream, tasks, shrink);
          expect([...arrived].sort(([a], [b]) => a - b)).toEqual([...pointRefsByKey(stream)]);
        }),
        { numRuns: 500, seed: shrink },
      );
    },
  );

  test('one run, and two runs that meet inside a task, in every cut', () => {
    for (let entries = 1; entries <= 30; entries++) {
      for (let tasks = 1; tasks <= entries + 3; tasks++) {
        for (const first of new Set([entries, 1, Math.floor(entries / 2), entries - 1])) {
          const runs = [first, entries - first]
            .filter((length) => length > 0)
            .map((length) => ({ step: 1, absent: new Array<boolean>(length).fill(false) }));
          const stream = streamOf({ runs }, (i) => i);
          expect([...arrivals(stream, tasks, SHRINK)].sort(([a], [b]) => a - b)).toEqual([...pointRefsByKey(stream)]);
        }
      }
    }
  });

  test('the test of the rules finds a cut that loses an entry, and a stream that is not sorted', () => {
    const runs = [{ step: 1, absent: [false, false, false, false] }];
    const [cut] = cutsOf(4, 2, SHRINK);
    if (cut === undefined) throw new Error('a cut');
    const list = (sum: number[] | null, pointRef: number): number[] => [...(sum ?? []), pointRef];
    // one task is too short, so that an entry belongs to none
    const short = walkOf(
      { ...cut, quotient: 1 },
      streamOf({ runs }, (i) => i),
      list,
    );
    expect(short.partials.flat().filter((pointRef) => pointRef !== null)).not.toContain(3);
    // one key in two runs has two writers
    const torn = walkOf({ ...cut, tasks: 1, quotient: 3, entries: 3 }, Uint32Array.of(0, 0, 1, 1, 0, 2), list);
    expect(torn.writers.get(0)).toHaveLength(2);
  });
});

/** Points k·G for k = 0 … 4, so few that equal, opposite and infinite sums are frequent. */
const MULTIPLES = 5;
const logOf = (pointRef: number): bigint => {
  const k = BigInt(pointRef & INDEX_MASK);
  return pointRef >= NEGATE ? -k : k;
};
const bases = new Uint32Array(MULTIPLES * curve.pointWords);
for (let k = 0; k < MULTIPLES; k++) {
  const point = Point.BASE.multiplyUnsafe(BigInt(k));
  writePoint(curve, bases, k, point.is0() ? null : point.toAffine());
}

/** Returns a stream over those points, whose indices and signs repeat a list. */
const pointStream = (shape: Shape, draws: readonly { k: number; negate: boolean }[]): Uint32Array<ArrayBuffer> =>
  streamOf(shape, (i) => {
    const { k, negate } = draws[i % draws.length] as { k: number; negate: boolean };
    return negate ? k + NEGATE : k;
  });
const draws = fc.array(fc.record({ k: fc.integer({ min: 0, max: MULTIPLES - 1 }), negate: fc.boolean() }), {
  minLength: 1,
  maxLength: 20,
});

/** Returns the sum of every key of a stream, computed from discrete logarithms. */
const expectedSums = (stream: Uint32Array, keys: number): (string | null)[] => {
  const all = new Array<string | null>(keys).fill(null);
  for (const [key, pointRefs] of pointRefsByKey(stream)) {
    const log = pointRefs.reduce((sum, pointRef) => sum + logOf(pointRef), 0n);
    const r = groupOrder(bn254G1);
    const { x, y } = toAffinePoint(Point.BASE.multiplyUnsafe(((log % r) + r) % r));
    all[key] = `${x},${y}`;
  }
  return all;
};
const spell = (sums: Uint32Array, key: number): string => {
  const { x, y } = readPoint(curve, sums, key) ?? { x: 0n, y: 0n };
  return `${x},${y}`;
};
/** One key more than the stream has, to detect writes beyond the end. */
const keyCount = (stream: Uint32Array): number => Math.max(0, ...keysOf(stream)) + 2;

/** A kernel of the walk in one of its shapes, and its CPU reference. */
interface Form {
  readonly sumWords: number;
  /** Returns sums in affine coordinates. */
  affine(sums: Uint32Array): Uint32Array;
  dispatch(kernels: Kernels, level: number): Pick<Dispatch, 'kernel' | 'config'>;
  /** Returns the threads of a walk; `spread` is between the fewest, 0, and one for each task, 1. */
  threads(tasks: number, spread: number): number;
  walk(level: number, cut: Cut, stream: Uint32Array, points: Uint32Array, sums: Uint32Array): Walked;
}

const THREADS = 4;
const SLOTS = 6;
const accounts = { checksum: 0, finite_points: 1, per_sum: 1, per_point: 0 };

const affineForm = (prefixMemory: 'private' | 'workgroup'): Form => ({
  sumWords: curve.pointWords,
  affine: (sums) => sums,
  dispatch: (kernels, level) => ({
    kernel: kernels.walk({ prefixMemory, threads: THREADS, slots: SLOTS }),
    config: WalkConfig.pack({ level, ...accounts, read_back: 0 }),
  }),
  threads: (tasks, spread) => {
    const least = Math.ceil(tasks / SLOTS);
    return least + Math.floor(spread * (tasks - least));
  },
  walk: (_, ...given) => walk(curve, ...given),
});

const xyzzForm: Form = {
  sumWords: extendedWords(curve),
  affine: (sums) => normalize(curve, sums),
  dispatch: (kernels, level) => ({
    kernel: kernels.walkXyzz({ threads: THREADS }),
    config: WalkXyzzConfig.pack({ level, ...accounts, extended: level === 0 ? 0 : 1 }),
  }),
  threads: (tasks) => tasks,
  walk: (level, cut, stream, points, sums) => walkXyzz(curve, cut, stream, points, level > 0, sums),
};

const forms = { private: affineForm('private'), workgroup: affineForm('workgroup'), xyzz: xyzzForm };

/** Marks words that no task wrote; as a point it is on no curve. */
const POISON = 0xdeadbeef;
const compare = (stream: Uint32Array, sums: Uint32Array, { sumWords, affine }: Form): void => {
  expectedSums(stream, keyCount(stream)).forEach((expected, key) => {
    const words = sums.subarray(key * sumWords, (key + 1) * sumWords);
    if (expected === null) {
      expect(new Set(words), `key ${key} has no present entry, and was written`).toEqual(new Set([POISON]));
    } else {
      expect(spell(affine(words), 0), `key ${key}`).toBe(expected);
    }
  });
};
const poisoned = (words: number): Uint32Array<ArrayBuffer> => new Uint32Array(words).fill(POISON);

test.each(['private', 'xyzz'] as const)(
  'the CPU reference sums equal, opposite and infinite points at every level: %s',
  (name) => {
    const form = forms[name];
    fc.assert(
      fc.property(shapes, draws, fc.integer({ min: 1, max: 90 }), (shape, drawn, tasks) => {
        const stream = pointStream(shape, drawn);
        const sums = poisoned(keyCount(stream) * form.sumWords);
        let [entries, points]: [Uint32Array, Uint32Array] = [stream, bases];
        for (const [level, cut] of cutsOf(stream.length / ENTRY_WORDS, tasks, SHRINK).entries()) {
          const { carries, partials } = form.walk(level, cut, entries, points, sums);
          [entries, points] = [carries, partials];
        }
        compare(stream, sums, form);
      }),
      { numRuns: 60, seed: 7 },
    );
  },
);

const onGpu = (name: keyof typeof forms): void => {
  const form = forms[name];
  let runner: Runner;
  let kernels: Kernels;
  let basesBuffer: GPUBuffer;

  beforeAll(async () => {
    const device = await getDevice();
    runner = new Runner(device, Number.POSITIVE_INFINITY);
    kernels = createKernels(curve);
    basesBuffer = await runner.createResident('bases', 'bases', bases.byteLength, { checkpoint: () => undefined });
    device.queue.writeBuffer(basesBuffer, 0, bases);
  });
  afterAll(() => runner.destroy());

  /**
   * Runs all levels in one submit over poisoned buffers. Returns `sums`, or another buffer as the
   * first level left it.
   */
  const walkAll = async (
    stream: Uint32Array,
    tasks: number,
    spread: number,
    read: 'sums' | 'carriesA' | 'partialsA' = 'sums',
  ) => {
    const all = cutsOf(stream.length / ENTRY_WORDS, tasks, SHRINK);
    const cuts = read === 'sums' ? all : all.slice(0, 1);
    const levels = Uint32Array.from(cuts.flatMap((cut) => [...levelOf(cut, form.threads(cut.tasks, spread))]));
    const sumBytes = 4 * form.sumWords;
    const carries = 2 * tasks;
    const scratch = {
      stream: Math.max(16, stream.byteLength),
      levels: levels.byteLength,
      sums: keyCount(stream) * sumBytes,
      carriesA: 8 * carries,
      carriesB: 8 * carries,
      partialsA: sumBytes * carries,
      partialsB: sumBytes * carries,
    };
    const uploads = Object.entries(scratch).map(([name, bytes]) => ({
      to: { buffer: name },
      data: poisoned(bytes / 4),
    }));
    const commands = cuts.map(({ tasks: ofLevel }, level): Command => {
      const [from, to] = level % 2 === 0 ? (['B', 'A'] as const) : (['A', 'B'] as const);
      return {
        kind: 'dispatch',
        phase: 'walk',
        ...form.dispatch(kernels, level),
        bindings: {
          levels: { buffer: 'levels' },
          stream: { buffer: level === 0 ? 'stream' : `carries${from}` },
          points: { buffer: level === 0 ? 'bases' : `partials${from}` },
          sums: { buffer: 'sums' },
          carries: { buffer: `carries${to}` },
          partials: { buffer: `partials${to}` },
        },
        // two rows, and more threads than tasks
        groups: [Math.ceil(form.threads(ofLevel, spread) / THREADS / 2) + 1, 2],
      };
    });
    const { data } = await runner.run({
      scratch,
      external: { bases: basesBuffer },
      uploads: [
        ...uploads,
        { to: { buffer: 'levels' }, data: levels },
        ...(stream.length > 0 ? [{ to: { buffer: 'stream' }, data: stream }] : []),
      ],
      commands,
      accounts: 8,
      read: [{ buffer: read, size: scratch[read] }],
    });
    return data[0] as Uint32Array;
  };

  test('random streams of equal, opposite and infinite points, cut at random', { tags: 'long' }, async () => {
    await fc.assert(
      fc.asyncProperty(
        shapes,
        draws,
        fc.integer({ min: 1, max: 90 }),
        // from the fewest threads with slots for all tasks, to one thread for each task
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (streamShape, drawn, tasks, spread) => {
          const stream = pointStream(streamShape, drawn);
          const sums = await walkAll(stream, tasks, spread);
          compare(stream, sums, form);
        },
      ),
      { numRuns: 60, seed: 8, endOnFailure: true },
    );
  });

  test('every task writes both of its carries, also a task without an entry', async () => {
    for (const lengths of [[], [1], [5], [2, 3], [1, 1, 9, 1]]) {
      const runs = lengths.map((length) => ({ step: 3, absent: new Array<boolean>(length).fill(false) }));
      const stream = pointStream({ runs }, [{ k: 1, negate: false }]);
      const entries = stream.length / ENTRY_WORDS;
      for (const tasks of [1, 2, 4, entries + 1, entries + 7]) {
        const [cut] = cutsOf(entries, tasks, SHRINK);
        const sums = poisoned(keyCount(stream) * form.sumWords);
        const reference = form.walk(0, cut as Cut, stream, bases, sums);
        expect(await walkAll(stream, tasks, 0, 'carriesA')).toEqual(reference.carries);
        expect(await walkAll(stream, tasks, 0, 'partialsA')).toEqual(reference.partials);
      }
    }
  });

  test('the sums of a stream are the same points for every cut', async () => {
    const lengths = [1, 200, 3, 1, 1, 40, 7];
    const runs = lengths.map((length) => ({ step: 2, absent: Array.from({ length }, (_, i) => i % 11 === 10) }));
    const stream = pointStream(
      { runs },
      Array.from({ length: 19 }, (_, i) => ({ k: (i * i + 1) % MULTIPLES, negate: i % 3 === 0 })),
    );
    const seen = new Set<string>();
    for (const tasks of [1, 2, 3, 16, 17, 64, 90, 250, 300]) {
      const sums = await walkAll(stream, tasks, 0);
      compare(stream, sums, form);
      const written = keysOf(stream).map((key) => sums.subarray(key * form.sumWords, (key + 1) * form.sumWords));
      seen.add(written.map((words) => form.affine(words).join()).join());
    }
    expect(seen.size).toBe(1);
  });
};
describe.each(['private', 'xyzz'] as const)('the GPU: %s', onGpu);
describe.each(['workgroup'] as const)('the GPU: %s', { tags: 'long' }, onGpu);
