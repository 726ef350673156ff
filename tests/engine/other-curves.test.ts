/**
 * Whole MSMs on the other curves that have a name, and on some that BN254's constants would break:
 * a shorter field, points of order 2, points with x = 0.
 */
import { describe, expect, test } from 'vitest';
import { oracles, secp192r1, secp192r1Oracle, weierstrassNames } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  encodeScalars,
  expectedMsm,
  groupOrder,
  makeKnownBases,
  type OracleCurve,
  Random,
} from '../../dev/oracle/known-bases.js';
import type { Tuning } from '../../src/api/device.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type Curve, curveContext } from '../../src/curves/curve.js';
import { registry, type WeierstrassName } from '../../src/curves/more-curves.js';
import { planMsm } from '../../src/msm/plan/planner.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { openEngine, quick } from '../support/engines.js';
import { meetingPoints } from '../support/meeting-points.js';
import { planOne } from '../support/record-plan.js';
import { gpuRunOf } from '../support/runs.js';
import { limits } from '../support/stage-bench.js';
import { TextbookCurve } from '../support/textbook-curve.js';

type Other = Exclude<WeierstrassName, 'bn254'>;

/** A longer field; and a ≠ 0, with an order just below 2^256. */
const first: readonly Other[] = ['bls12-381', 'p256'];
const others = weierstrassNames.filter((name) => name !== 'bn254') as Other[];

const n = 67;

/** Sums with a kind of products; by default with those of the adapter. */
const computes = (name: Other, tuning: Partial<Tuning> = {}): void => {
  const [curve, oracle] = [registry[name].g1, oracles[name]];
  const known = makeKnownBases(oracle, n, 11);
  const r = groupOrder(oracle);

  test('random and special scalars are right, from any offset, as bytes and as points', async () => {
    const engine = await openEngine({ curve: name, tuning });
    const random = new Random(12);
    const draw: ((i: number) => bigint)[] = [
      () => random.bits(256),
      () => random.belowBig(r),
      (i) => [0n, 1n, r - 1n, r, r + 1n, 2n ** 256n - 1n][i % 6] as bigint,
      () => 5n,
    ];
    const fromPoints = await engine.loadBases(known.points);
    const fromBytes = await engine.loadBases(known.bytes);
    // a binding starts at a multiple of 256 bytes, which a point may start before or after
    for (const [round, offset] of [0, 1, 2, 3, 5, 7, 8, 9, 66, 67].entries()) {
      const scalars = Array.from({ length: n - offset }, (_, i) => (draw[round % 4] as (i: number) => bigint)(i));
      const expected = expectedMsm(oracle, known.logs.slice(offset), scalars);
      expect(await engine.msm(fromPoints, scalars, { offset }), `offset ${offset}`).toEqual(expected);
      expect(await engine.msm(fromBytes, encodeScalars(oracle, scalars), { offset })).toEqual(expected);
    }
    expect(await engine.msm(fromBytes, known.logs, { offset: n - n })).toEqual(
      expectedMsm(oracle, known.logs, known.logs),
    );
  });

  test('equal points, opposite points and infinities in one bucket are right', async () => {
    const engine = await openEngine({ curve: name, tuning });
    const { points, logs } = meetingPoints(curve, known);
    const bases = await engine.loadBases(points);
    for (let length = 1; length <= points.length; length++) {
      const scalars = new Array<bigint>(length).fill(3n);
      expect(await engine.msm(bases, scalars), `first ${length}`).toEqual(expectedMsm(oracle, logs, scalars));
    }
  });
};

const cutsAnywhere = (name: Other): void => {
  const [curve, oracle] = [registry[name].g1, oracles[name]];
  const known = makeKnownBases(oracle, n, 11);

  test('chunks may start at any point', async () => {
    const knobs = { ...quick, windowBits: 4 };
    // room for 23 scalars at a time however few windows a submit takes, so that the second chunk
    // begins between two places where a binding may start
    const context = curveContext(curve);
    const peaks = Array.from(
      { length: 64 },
      (_, i) => planOne(fullWorkload(23, context), context, limits, knobs, i + 1).peakBytes,
    );
    const memoryBudget = Math.min(...peaks);
    const plan = planMsm(fullWorkload(n, context), context, { limits, budget: memoryBudget }, knobs);
    expect(plan.n).toBe(23);
    const engine = await openEngine({ curve, memoryBudget, tuning: { windowBits: 4 } });
    const bases = await engine.loadBases(known.bytes);
    for (const offset of [0, 1]) {
      const scalars = known.logs.slice(offset);
      expect(await engine.msm(bases, scalars, { offset })).toEqual(expectedMsm(oracle, scalars, scalars));
      expect(gpuRunOf(engine).submits).toBe(3 * plan.groups);
    }
    expect(engine.memory.peak).toBeLessThanOrEqual(memoryBudget);
  });
};
// they compile three times as fast as those of a software adapter, and Apple's GPUs use them
describe('bls12-381, with products by floats', () => computes('bls12-381', { fieldProduct: 'fma' }));
describe.each(others)('%s', { tags: 'long' }, (name) => {
  computes(name);
  cutsAnywhere(name);
});

// Import alone. secp192r1 is here for it, as its words can hold what its limbs cannot.
describe.each<[string, Curve, OracleCurve]>([
  ...first.map((name): [string, Curve, OracleCurve] => [name, registry[name].g1, oracles[name]]),
  ['secp192r1', secp192r1, secp192r1Oracle],
])('%s', (_, curve, oracle) => {
  const known = makeKnownBases(oracle, 20, 13);
  const pointBytes = 2 * oracle.coordinateBytes;

  test('invalid points are rejected, with their index', async () => {
    const engine = await openEngine({ curve: curve });
    const at = (i: number, coordinate: 0 | 1, value: bigint): Uint8Array => {
      const bytes = known.bytes.slice();
      for (let b = 0; b < oracle.coordinateBytes; b++) {
        bytes[i * pointBytes + coordinate * oracle.coordinateBytes + b] = Number((value >> BigInt(8 * b)) & 0xffn);
      }
      return bytes;
    };
    const { x, y } = known.points[9] as AffinePoint;
    const top = 2n ** BigInt(8 * oracle.coordinateBytes);
    await expect(engine.loadBases(at(9, 1, y ^ 1n), { label: 'off' })).rejects.toMatchObject({
      code: 'not-on-curve',
      message: expect.stringContaining('points[9]'),
    });
    // the same point modulo p is not the same bytes: every number from p up to the top of the
    // words is refused
    for (const [coordinate, value] of [
      [0, x],
      [1, y],
    ] as const) {
      const least = value + curve.p;
      const most = value + ((top - 1n - value) / curve.p) * curve.p;
      const highestBit = value + 2n ** BigInt(8 * oracle.coordinateBytes - 1);
      for (const wrong of [curve.p, top - 1n, least, most, highestBit].filter((v) => v >= curve.p && v < top)) {
        await expect(engine.loadBases(at(9, coordinate, wrong)), `0x${wrong.toString(16)}`).rejects.toMatchObject({
          code: 'bad-argument',
          message: expect.stringContaining('points[9]'),
        });
      }
    }
    expect(engine.memory.bases).toBe(0);
    expect(await engine.loadBases(known.bytes)).toMatchObject({ length: 20, byteLength: known.bytes.length });
  });
});

describe('points of order 2, and points with x = 0', { tags: 'long' }, () => {
  // y² = x³ + a·x + b over BN254's field, with b such that the wanted point is on it. The order of
  // the group is not known, and need not be: scalars below `order` are not reduced. It is that of
  // the points of order 2 and 3.
  const { p } = bn254;
  const order = 3n * 2n ** 253n;
  const curveThrough = (x: bigint, y: bigint, a: bigint): Curve => {
    const b = (((y * y - x * x * x - a * x) % p) + p) % p;
    return { name: 'custom', p, order, a, b, generator: { x, y } };
  };
  const infinity: AffinePoint = { x: 0n, y: 0n, infinity: true };

  test.each<[string, bigint, bigint, bigint]>([
    ['(5, 0), a = 7', 5n, 0n, 7n],
    ['(0, 4), a = 0, which has order 3', 0n, 4n, 0n],
  ])('%s', async (_, x, y, a) => {
    const curve = curveThrough(x, y, a);
    const textbook = new TextbookCurve(curve);
    const special: AffinePoint = { x, y, infinity: false };
    const other = textbook.somePoint(curve.b, 1000n);
    const pool = [
      special,
      { ...special, y: (p - y) % p },
      infinity,
      other,
      special,
      special,
      { ...other, y: p - other.y },
      textbook.add(special, other),
    ];
    const points = Array.from({ length: 70 }, (_, i) => pool[(i * i + (i >> 2)) % pool.length] as AffinePoint);
    const engine = await openEngine({ curve });
    const bases = await engine.loadBases(points);
    const draws: ((i: number) => bigint)[] = [() => 1n, () => 2n, (i) => BigInt(i % 3), (i) => BigInt(i * i + 5)];
    for (const draw of draws) {
      for (const count of [1, 2, 3, 4, 5, 17, 70]) {
        const scalars = Array.from({ length: count }, (_, i) => draw(i));
        const expected = scalars.reduce(
          (sum, scalar, i) => textbook.add(sum, textbook.multiply(points[i] as AffinePoint, scalar)),
          infinity,
        );
        expect(await engine.msm(bases, scalars), `${draw}, first ${count}`).toEqual(expected);
      }
    }
  });
});
