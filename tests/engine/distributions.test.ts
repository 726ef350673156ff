/**
 * The cases of dev/cases on whole engines: every distribution of points with every distribution of
 * scalars, sizes around the boundaries of workgroups, and knobs at random. The right answer comes
 * from the known logarithms of the points; each MSM runs twice.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { CaseOf } from '../../dev/cases/msm-case.js';
import { type PointDistributionName, type PointSet, pointDistributions } from '../../dev/cases/point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { type AffinePoint, bn254G1, expectedMsm } from '../../dev/oracle/known-bases.js';
import type { Tuning } from '../../src/api/device.js';
import type { MsmEngine } from '../../src/index.js';
import { openEngine } from '../support/engines.js';
import { gpuRunOf } from '../support/runs.js';

const placements = ['private', 'workgroup'] as const;
/**
 * Few entries a task: many cuts and many levels at a small n. And one walk pipeline a placement for
 * the whole file.
 */
const tuning = {
  walkerSlots: 4,
  walkerThreadsPerWorkgroup: 8,
  walkerEntriesPerTask: 3,
  walkerLeastThreads: 5,
  cpuBelow: 0,
} as const;

const create = (more: Partial<Tuning>): Promise<MsmEngine> => openEngine({ tuning: { ...tuning, ...more } });

interface Case {
  readonly points: PointSet;
  readonly scalars: Uint8Array;
  readonly expected: AffinePoint;
}

/**
 * Without the sum over the points themselves that makeCase also has: tests/tools/cases.test.ts
 * compares the two, and it costs more than the MSM.
 */
const makeCase = (address: CaseOf, points = pointDistributions[address.points].make(address.n, address.seed)): Case => {
  const { values, bytes } = scalarDistributions[address.scalars].make(address.n, address.seed);
  return { points, scalars: bytes, expected: expectedMsm(bn254G1, points.logs, values) };
};

const expectTwice = async (engine: MsmEngine, { points, scalars, expected }: Case): Promise<void> => {
  const bases = await engine.loadBases(points.bytes);
  try {
    for (const run of ['first', 'second']) expect(await engine.msm(bases, scalars), run).toEqual(expected);
  } finally {
    bases.destroy();
  }
};

const computesAll = (walkerPrefixMemory: (typeof placements)[number]): void => {
  let engine: MsmEngine;
  beforeAll(async () => {
    engine = await create({ walkerPrefixMemory });
  });

  const pointNames = Object.keys(pointDistributions) as PointDistributionName[];
  const scalarNames = Object.keys(scalarDistributions) as ScalarDistributionName[];

  // each pair with one placement here; both, at other sizes, are in tests/engine/case-list.test.ts
  const agrees = async (name: PointDistributionName): Promise<void> => {
    const address = { points: name, n: 65, seed: 41 };
    const turn = placements.indexOf(walkerPrefixMemory) + pointNames.indexOf(name);
    const points = pointDistributions[name].make(address.n, address.seed);
    const bases = await engine.loadBases(points.bytes);
    for (const scalars of scalarNames.filter((_, i) => (i + turn) % 2 === 0)) {
      const { scalars: bytes, expected } = makeCase({ ...address, scalars }, points);
      for (const run of ['first', 'second']) {
        expect(await engine.msm(bases, bytes), `scalars=${scalars}, ${run} run`).toEqual(expected);
      }
    }
    bases.destroy();
  };
  const title = 'points=%s, every second distribution of scalars';
  // a turn here, the other in the second tier
  const isFirst = (name: PointDistributionName): boolean =>
    pointNames.indexOf(name) % placements.length === placements.indexOf(walkerPrefixMemory);
  test.each(pointNames.filter(isFirst))(title, agrees);
  test.each(pointNames.filter((name) => !isFirst(name)))(title, { tags: 'long' }, agrees);

  // around the sizes of workgroups and of what they take; the placement of the prefixes has little
  // to do with them
  const sizes = [0, 1, 2, 3, 8, 63, 64, 65, 127, 129, 255, 257];
  const isRight = async (n: number): Promise<void> => {
    const cases: [PointDistributionName, ScalarDistributionName][] = [
      ['distinct', 'random'],
      ['all-equal', 'all-equal'],
      ['pairs', 'all-equal'],
      ['with-infinities', 'one-bucket-and-noise'],
      ['few-with-signs', 'r-and-above'],
    ];
    for (const [points, scalars] of cases) await expectTwice(engine, makeCase({ points, scalars, n, seed: 42 }));
  };
  test.each(walkerPrefixMemory === 'private' ? sizes : [1, 65, 257])('n = %i', isRight);
  test('n = 1000', { tags: 'long' }, () => isRight(1000));
};
describe.each(placements.filter((memory) => memory === 'private'))('%s prefixes', computesAll);
describe.each(placements.filter((memory) => memory !== 'private'))('%s prefixes', { tags: 'long' }, computesAll);

/**
 * Knobs drawn once, and kept. Each combination of threads, slots and placement is a pipeline that
 * takes seconds to compile here, so there are few of those; and wide windows mean many buckets to
 * reduce, whatever n is.
 */
const [private84, workgroup84, private35, workgroup1x7, single] = [
  { walkerPrefixMemory: 'private', walkerThreadsPerWorkgroup: 8, walkerSlots: 4 },
  { walkerPrefixMemory: 'workgroup', walkerThreadsPerWorkgroup: 8, walkerSlots: 4 },
  { walkerPrefixMemory: 'private', walkerThreadsPerWorkgroup: 3, walkerSlots: 5 },
  { walkerPrefixMemory: 'workgroup', walkerThreadsPerWorkgroup: 7, walkerSlots: 1 },
  { walkerPrefixMemory: 'private', walkerThreadsPerWorkgroup: 1, walkerSlots: 64 },
] as const;
const drawn: Partial<Tuning>[] = [
  { ...private84, windowBits: 2, walkerTasks: 37, walkerEntriesPerTask: 1, walkerLeastThreads: 1 },
  { ...private84, windowBits: 3, walkerTasks: 2 ** 20, walkerEntriesPerTask: 1, walkerLeastThreads: 2 ** 20 },
  { ...workgroup84, windowBits: 5, walkerTasks: 1, sortThreadsPerWorkgroup: 1, sortEntriesPerThread: 1 },
  { ...workgroup84, windowBits: 6, walkerTasks: 17, walkerEntriesPerTask: 2, walkerLeastThreads: 3 },
  { ...workgroup84, windowBits: 7, walkerTasks: 2, sortThreadsPerWorkgroup: 5, sortEntriesPerThread: 3 },
  { ...private84, windowBits: 8, walkerEntriesPerTask: 65536, sortThreadsPerWorkgroup: 64, sortEntriesPerThread: 256 },
  { ...private35, windowBits: 9, walkerTasks: 16, walkerEntriesPerTask: 7, walkerLeastThreads: 2 },
  { ...private35, windowBits: 4, walkerTasks: 257, walkerEntriesPerTask: 5, walkerLeastThreads: 100 },
  { ...workgroup1x7, windowBits: 11, walkerTasks: 4096, walkerEntriesPerTask: 4, walkerLeastThreads: 1 },
  { ...workgroup1x7, windowBits: 6, walkerTasks: 256, walkerEntriesPerTask: 1, walkerLeastThreads: 64 },
  { ...single, windowBits: 5, walkerTasks: 300, walkerEntriesPerTask: 2, walkerLeastThreads: 1 },
  { ...single, windowBits: 10, walkerTasks: 64, walkerEntriesPerTask: 9, walkerLeastThreads: 17 },
  // two and three passes of the sort, and its odd number of bits
  { ...private84, windowBits: 13, walkerTasks: 100, sortThreadsPerWorkgroup: 128, sortEntriesPerThread: 16 },
  { ...workgroup84, windowBits: 14, walkerTasks: 1000, sortThreadsPerWorkgroup: 5, sortEntriesPerThread: 3 },
];

const changesNothing = async (knobs: Partial<Tuning>): Promise<void> => {
  const engine = await create(knobs);
  // most sums are exceptional, one bucket is hot, and the rest is noise
  await expectTwice(engine, makeCase({ points: 'few-with-signs', scalars: 'one-bucket-and-noise', n: 300, seed: 43 }));
  expect(gpuRunOf(engine).tuning).toMatchObject(knobs);
  await expectTwice(engine, makeCase({ points: 'doubling-chain', scalars: 'all-one', n: 65, seed: 44 }));
};

test.each(drawn.slice(0, 1))('no knob changes a result: %j', changesNothing);
test.each(drawn.slice(1))('no knob changes a result: %j', { tags: 'long' }, changesNothing);

test('a walk with more workgroups than one dimension of a dispatch allows is right', { tags: 'long' }, async () => {
  // a task an entry, a slot a task, a thread a workgroup: more than 65535, which go in two rows
  const knobs = {
    walkerPrefixMemory: 'private',
    walkerThreadsPerWorkgroup: 1,
    walkerSlots: 1,
    walkerTasks: 2 ** 20,
    walkerEntriesPerTask: 1,
    windowBits: 4,
  } as const;
  const engine = await create(knobs);
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 1130, seed: 46 });
  expect(await engine.msm(await engine.loadBases(points.bytes), scalars)).toEqual(expected);
  // a sixteenth of the digits are 0 and make no task
  expect((gpuRunOf(engine).tasks * 15) / 16).toBeGreaterThan(66_000);
});

test('an engine that has computed one shape computes the next one right, larger or smaller, hot or empty', {
  tags: 'long',
}, async () => {
  const engine = await create({ walkerPrefixMemory: 'private' });
  const shapes: [PointDistributionName, ScalarDistributionName, number][] = [
    ['distinct', 'random', 1000],
    ['distinct', 'all-zero', 64],
    ['all-equal', 'all-equal', 257],
    ['all-infinity', 'random', 129],
    ['distinct', 'one-nonzero', 1000],
    ['pairs', 'all-one', 2],
    ['distinct', 'random', 3],
    ['consecutive', 'ascending', 513],
    ['distinct', 'random', 1000],
  ];
  // what a buffer holds from the call before must not show: no stage may read what it has not
  // written
  for (const [points, scalars, n] of shapes) await expectTwice(engine, makeCase({ points, scalars, n, seed: 45 }));
});
