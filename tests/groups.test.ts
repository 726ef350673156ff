/** G2: every curve that has one, against the oracle, with points that meet in every way, in both memories, with every product, and with tables. */
import { describe, expect, test } from 'vitest';
import { bn254FromNoble, oraclesOfG2 } from '../dev/oracle/curves.js';
import { expectedMsm, groupOrder, makeKnownBases, Random } from '../dev/oracle/known-bases.js';
import type { Curve } from '../src/curves/curve.js';
import { groups } from '../src/curves/more-curves.js';
import type { OwnNameOfPair } from '../src/curves/names.js';
import { createMsmEngine, type Fp2, type MsmEngineOptions, type Tuning } from '../src/index.js';
import { getDevice } from './support/gpu.js';
import { meetingPoints } from './support/meeting-points.js';

const multiplies = async (name: OwnNameOfPair, tuning: Partial<Tuning>): Promise<void> => {
  const oracle = oraclesOfG2[name];
  const known = makeKnownBases(oracle, 64, 31);
  const meeting = meetingPoints(groups.g2[name], known);
  const points = [...meeting.points, ...known.points];
  const logs = [...meeting.logs, ...known.logs];
  const random = new Random(32);
  const drawn = points.map(() => random.belowBig(groupOrder(oracle)));
  const engine = await createMsmEngine({
    curve: name,
    group: 'g2',
    device: await getDevice(),
    tuning: { ...tuning, cpuBelow: 0 },
  });
  try {
    const bases = await engine.loadBases(points);
    for (const length of [1, 2, 3, 6, 11, 15, 24, points.length]) {
      for (const scalars of [new Array<bigint>(length).fill(3n), drawn.slice(0, length)]) {
        expect(await engine.msm(bases, scalars), `first ${length}`).toEqual(expectedMsm(oracle, logs, scalars));
      }
    }
    expect(engine.lastRun).toMatchObject({ on: 'gpu', retried: null, fallback: null, tuning });
    const tabled = await engine.loadBases(points, { precompute: 3 });
    expect(await engine.msm(tabled, drawn)).toEqual(expectedMsm(oracle, logs, drawn));
  } finally {
    engine.destroy();
  }
};

const names = ['bn254', 'bls12-381', 'bls12-377'] as const;
const shapes = [
  { fieldProduct: 'signed' },
  { fieldProduct: 'signed', walkerPrefixMemory: 'workgroup', walkerThreadsPerWorkgroup: 4, walkerSlots: 3 },
  { fieldProduct: 'unsigned', walkerSlots: 4 },
  { fieldProduct: 'unsigned', walkerPrefixMemory: 'workgroup', walkerThreadsPerWorkgroup: 4, walkerSlots: 3 },
] as const;
const cases = names.flatMap((name) => shapes.map((shape) => [name, shape] as const));
const first = cases.slice(0, 1);

test.each(first)('%s, %j', multiplies);
describe('others', { tags: 'long' }, () => {
  test.each(cases.slice(1))('%s, %j', multiplies);
});

describe('by its constants', () => {
  /** BN254's, as noble has them. */
  const oracle = oraclesOfG2.bn254;
  const { n: order, a, b, Gx, Gy } = oracle.Point.CURVE();
  const own: Curve<Fp2> = {
    name: 'mine',
    p: bn254FromNoble.p,
    order,
    nonResidue: -1n,
    a,
    b,
    generator: { x: Gx, y: Gy },
  };

  test('it is computed on', async () => {
    const { points, logs } = makeKnownBases(oracle, 8, 33);
    const engine = await createMsmEngine({ curve: own, device: await getDevice() });
    try {
      expect(await engine.msm(await engine.loadBases(points), logs)).toEqual(expectedMsm(oracle, logs, logs));
    } finally {
      engine.destroy();
    }
  });

  test.each<[string, Partial<MsmEngineOptions<Fp2>>, RegExp]>([
    ['a square', { curve: { ...own, nonResidue: 1n } }, /curve 'mine': nonResidue 1 is a square modulo p$/],
    ['too large', { curve: { ...own, nonResidue: -7n } }, /curve 'mine': nonResidue must be from −6 to 6, got -7$/],
    [
      'of no type',
      { curve: { ...own, nonResidue: -1 as unknown as bigint } },
      /nonResidue must be a bigint, got number/,
    ],
    ['numbers', { curve: { ...own, b: 3n as unknown as Fp2 } }, /curve 'mine': b.c0 must be a bigint, got undefined$/],
    ['p', { curve: { ...own, a: { c0: 0n, c1: own.p } } }, /curve 'mine': a.c1 must be in \[0, p\)$/],
    ['an order of others', { curve: { ...own, order: order - 1n } }, /order times the generator is not infinity$/],
    ['g1', { curve: own, group: 'g1' as 'g2' }, /curve 'mine': has a nonResidue, which does not fit group 'g1'/],
  ])('%s is refused', async (_, options, message) => {
    const device = await getDevice();
    await expect(createMsmEngine({ curve: own, device, ...options })).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(message),
    });
  });
});
