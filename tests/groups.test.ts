/** G2: every curve that has one, against the oracle, with points that meet in every way, in both memories, with every product, and with tables. */
import { describe, expect, test } from 'vitest';
import { oraclesOfG2 } from '../dev/oracle/curves.js';
import { expectedMsm, groupOrder, makeKnownBases, Random } from '../dev/oracle/known-bases.js';
import { groups } from '../src/curves/more-curves.js';
import type { OwnNameOfPair } from '../src/curves/names.js';
import { createMsmEngine, type Tuning } from '../src/index.js';
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
