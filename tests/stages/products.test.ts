/**
 * MSMs with products of words: all kinds of points, fields of other lengths, tables, sums in either
 * coordinates, and prefixes in either memory.
 */
import { describe, expect, test } from 'vitest';
import {
  bls12381,
  bls12381Oracle,
  bn254FromNoble,
  p256Curve,
  p256Oracle,
  secp192r1,
  secp192r1Oracle,
} from '../../dev/oracle/curves.js';
import {
  bn254G1,
  expectedMsm,
  groupOrder,
  makeKnownBases,
  type OracleCurve,
  Random,
} from '../../dev/oracle/known-bases.js';
import type { Curve } from '../../src/curves/curve.js';
import { createMsmEngine, type Tuning } from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
import { meetingPoints } from '../support/meeting-points.js';

type FieldProduct = Tuning['fieldProduct'];

/**
 * Computes sums of growing numbers of points, in which equal, opposite and infinite points meet in
 * every order.
 */
const multiplies = async (curve: Curve, oracle: OracleCurve, tuning: Partial<Tuning>): Promise<void> => {
  const known = makeKnownBases(oracle, 64, 31);
  const meeting = meetingPoints(curve, known);
  const points = [...meeting.points, ...known.points];
  const logs = [...meeting.logs, ...known.logs];
  const random = new Random(32);
  const drawn = points.map(() => random.belowBig(groupOrder(oracle)));
  const engine = await createMsmEngine({ curve, device: await getDevice(), tuning: { ...tuning, cpuBelow: 0 } });
  try {
    const bases = await engine.loadBases(points);
    for (const length of [1, 2, 3, 6, 11, 15, 24, points.length]) {
      for (const scalars of [new Array<bigint>(length).fill(3n), drawn.slice(0, length)]) {
        expect(await engine.msm(bases, scalars), `first ${length}`).toEqual(expectedMsm(oracle, logs, scalars));
      }
    }
    expect(engine.lastRun).toMatchObject({ on: 'gpu', retried: null, tuning });
    const tabled = await engine.loadBases(points, { precompute: 3 });
    expect(await engine.msm(tabled, drawn)).toEqual(expectedMsm(oracle, logs, drawn));
  } finally {
    engine.destroy();
  }
};

const shapes = [
  { walkerCoordinates: 'affine', walkerPrefixMemory: 'private', walkerSlots: 8 },
  { walkerCoordinates: 'xyzz', walkerPrefixMemory: 'private', walkerSlots: 1 },
  { walkerCoordinates: 'affine', walkerPrefixMemory: 'private', walkerSlots: 1 },
  { walkerCoordinates: 'affine', walkerPrefixMemory: 'workgroup', walkerSlots: 4 },
] as const;
const [affine, xyzz] = shapes;

/** Curves with their shapes: the walk of a shape is the same code on all of them, but for fields and a. */
const curves: [string, Curve, OracleCurve, readonly (typeof shapes)[number][]][] = [
  ['BN254', bn254FromNoble, bn254G1, shapes],
  // a field of 256 bits, which with two more bits take a ninth word; a is not 0
  ['P-256', p256Curve, p256Oracle, [affine]],
  ['BLS12-381', bls12381, bls12381Oracle, [xyzz]],
  ['secp192r1', secp192r1, secp192r1Oracle, [xyzz]],
];

const cases = (fieldProduct: FieldProduct) =>
  curves.flatMap(([name, curve, oracle, own]) =>
    own.map((shape) => {
      const tuning = { fieldProduct, walkerThreadsPerWorkgroup: 8, walkerEntriesPerTask: 4, ...shape };
      return { name, curve, oracle, tuning, ...shape };
    }),
  );
const [portable, extended, ...others] = cases('unsigned');
const [floats, ...otherFloats] = cases('fma');

describe('MSMs with unsigned and fma products', () => {
  test.each([portable, extended, floats])(
    '$tuning.fieldProduct: $name, $walkerCoordinates, $walkerPrefixMemory, $walkerSlots slots',
    async (each) => {
      const { curve, oracle, tuning } = each as NonNullable<typeof each>;
      await multiplies(curve, oracle, tuning);
    },
  );
});

describe('MSMs with products of all words', { tags: 'long' }, () => {
  // the compiler of SwiftShader ends the process at dot products of more than 256 bits, and takes
  // 7 s for one of the others
  const short = cases('dot4').filter(({ curve }) => curve.p < 2n ** 256n && curve !== p256Curve);
  // neither one slot nor the place of prefixes is other code for another product
  const rest = [...otherFloats, ...short].filter(
    ({ walkerCoordinates, walkerSlots }) => walkerSlots === 8 || walkerCoordinates === 'xyzz',
  );
  test.each([...others, ...rest])(
    '$tuning.fieldProduct: $name, $walkerCoordinates, $walkerPrefixMemory, $walkerSlots slots',
    async (each) => {
      const { curve, oracle, tuning } = each as NonNullable<typeof each>;
      await multiplies(curve, oracle, tuning);
    },
    120_000,
  );
});
