/**
 * G2 of every curve that has one, against the oracle: points that meet in every way, both prefix
 * memories, every product, and tables.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCheckedEngine } from '../../dev/checks/engine.js';
import { bn254FromNoble, oraclesOfG2 } from '../../dev/oracle/curves.js';
import { expectedMsm, groupOrder, makeKnownBases, numbersOf, Random } from '../../dev/oracle/known-bases.js';
import { type PairingName, registry } from '../../src/curves/more-curves.js';
import { openCurve } from '../../src/curves/open-curve.js';
import {
  type AffinePoint,
  type Bases,
  createMsmEngine,
  type Fp2,
  type MsmEngine,
  type Tuning,
} from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
import { meetingPoints } from '../support/meeting-points.js';

const multiplies = async (name: PairingName, tuning: Partial<Tuning>): Promise<void> => {
  const oracle = oraclesOfG2[name];
  const known = makeKnownBases(oracle, 64, 31);
  const meeting = meetingPoints(registry[name].g2, known);
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
  { fieldProduct: 'unsigned', walkerSlots: 4 },
  { fieldProduct: 'unsigned', walkerPrefixMemory: 'workgroup', walkerThreadsPerWorkgroup: 4, walkerSlots: 3 },
] as const;
// the prefixes of a walk are the same code over every field
const cases = names.flatMap((name) =>
  shapes.slice(0, name === 'bls12-377' ? 1 : undefined).map((shape) => [name, shape] as const),
);
test.each(cases)('%s, %j', { tags: 'long' }, multiplies);

describe('an engine of BN254 G2', () => {
  const oracle = oraclesOfG2.bn254;
  const known = makeKnownBases(oracle, 300, 7);
  const { Point } = oracle;
  const r = groupOrder(oracle);
  let engine: MsmEngine<Fp2>;
  let bases: Bases;
  beforeAll(async () => {
    engine = await createMsmEngine({
      curve: 'bn254',
      group: 'g2',
      device: await getDevice(),
      tuning: { cpuBelow: 20 },
    });
    bases = await engine.loadBases(known.bytes);
  });
  afterAll(() => engine?.destroy());
  const scalarsFor = (count: number, seed: number): bigint[] => {
    const random = new Random(seed);
    return Array.from({ length: count }, (_, i) => (i % 7 === 6 ? random.bits(256) : random.belowBig(r)));
  };

  test('passes the checks of its stages', { tags: 'long' }, async () => {
    const tuning = { cpuBelow: 0 };
    const options = { device: await getDevice(), tuning };
    const checked = await createCheckedEngine({ curve: 'bn254', group: 'g2', ...options });
    try {
      const scalars = scalarsFor(300, 9);
      const sum = await checked.msm(await checked.loadBases(known.bytes), scalars);
      expect(sum).toEqual(expectedMsm(oracle, known.logs, scalars));
    } finally {
      checked.destroy();
    }
  });

  test('computes few scalars on the CPU, and many on the GPU', { tags: 'long' }, async () => {
    for (const [count, on] of [
      [3, 'cpu'],
      [300, 'gpu'],
    ] as const) {
      const scalars = scalarsFor(count, count);
      expect(await engine.msm(bases, scalars)).toEqual(expectedMsm(oracle, known.logs, scalars));
      expect(engine.lastRun).toMatchObject({ on, retried: null, ...(on === 'gpu' && { fallback: null }) });
    }
  });

  test('computes batches, with offsets, a vector without scalars and one of zeros', { tags: 'long' }, async () => {
    const vectors = [scalarsFor(100, 1), [], scalarsFor(150, 2), new Array<bigint>(40).fill(0n)];
    const offsets = [5, 0, 150, 17];
    const expected = vectors.map((scalars, v) => expectedMsm(oracle, known.logs.slice(offsets[v]), scalars));
    expect(await engine.msmBatch(bases, vectors, { offsets })).toEqual(expected);
    expect(expected[1]).toEqual({ x: { c0: 0n, c1: 0n }, y: { c0: 0n, c1: 0n }, infinity: true });
  });

  test('verifies its results', async () => {
    const scalars = scalarsFor(300, 3);
    const sum = await engine.msm(bases, scalars, { verify: true });
    expect(sum).toEqual(expectedMsm(oracle, known.logs, scalars));
    expect(engine.lastRun).toMatchObject({ on: 'gpu', verified: true });
  });

  test('accepts points outside the subgroup, and reduces scalars modulo its order', async () => {
    const points: AffinePoint<Fp2>[] = [];
    for (let c0 = 1n; points.length < 40; c0++) {
      const x = { c0, c1: 3n };
      const { Fp } = Point;
      const rhs = Fp.add(Fp.mul(Fp.sqr(x), x), Point.CURVE().b);
      if (Fp.eql(Fp.pow(rhs, (Fp.ORDER - 1n) / 2n), Fp.ONE)) points.push({ x, y: Fp.sqrt(rhs), infinity: false });
    }
    const own = points.map(({ x, y }) => Point.fromAffine({ x, y }));
    expect(own.every((point) => !point.isTorsionFree())).toBe(true);
    const scalars = scalarsFor(40, 4);
    const sum = own.reduce(
      (total, point, i) => total.add(point.multiplyUnsafe((scalars[i] as bigint) % r)),
      Point.ZERO,
    );
    const loaded = await engine.loadBases(points);
    for (const options of [{}, { verify: true }]) {
      expect(await engine.msm(loaded, scalars, options)).toEqual({ ...sum.toAffine(), infinity: false });
    }
  });

  test('rejects a point that is not on the curve, or no point of G2, by its index', async () => {
    const [point, other] = known.points as [AffinePoint<Fp2>, AffinePoint<Fp2>];
    const moved = { ...point, y: { ...point.y, c1: point.y.c1 === 0n ? 1n : point.y.c1 - 1n } };
    await expect(engine.loadBases([other, moved])).rejects.toMatchObject({
      code: 'not-on-curve',
      message: 'points[1] is not on bn254 G2',
    });
    const swapped = known.bytes.slice(0, 128 * 3);
    for (const at of [256, 288, 320, 352]) swapped.subarray(at, at + 32).reverse();
    await expect(engine.loadBases(swapped)).rejects.toMatchObject({
      message: expect.stringMatching(/^points\[2\].* but read as big-endian bytes it is on the curve/),
    });
    const large = known.bytes.slice(0, 128 * 2);
    large.fill(0xff, 128 + 96);
    await expect(engine.loadBases(large)).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'points[1]: a coordinate is not below the prime of bn254 G2',
    });
    for (const [given, message] of [
      [[{ x: 1n, y: 2n, infinity: false }], 'points[0].x.c0 must be a bigint, got undefined'],
      [[{ ...point, y: { c0: 1n, c1: oracle.Point.Fp.ORDER } }], /^points\[0\]\.y\.c1 must be in \[0, p\), got/],
      [[{ ...point, y: null }], 'points[0].y.c0 must be a bigint, got undefined'],
      [known.bytes.subarray(0, 64), 'points: 64 bytes are not a whole number of points of 128 bytes'],
    ] as const) {
      await expect(engine.loadBases(given as never)).rejects.toMatchObject({
        code: 'bad-argument',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      });
    }
  });
});

test.each([
  [{ curve: 'grumpkin', group: 'g2' }, /^curve: 'grumpkin' is unknown; give one of bn254 .* for group 'g2'/],
  [{ curve: 'bn254', group: 'g3' }, "group must be 'g1' or 'g2', got 'g3'"],
  [{ curve: registry.bn254.g2, group: 'g1' }, /its coordinates are not those of group 'g1'; omit the group/],
  [{ curve: registry['bls12-381'].g1, group: 'g2' }, /its coordinates are not those of group 'g2'; omit the group/],
  [{ curve: { ...registry.bn254.g2, nonResidue: 4n } }, /nonResidue 4 is a square modulo p/],
  [{ curve: { ...registry.bn254.g2, nonResidue: -7n } }, /nonResidue must be from −6 to 6/],
  [{ curve: { ...registry.bn254.g2, nonResidue: 1 } }, /nonResidue must be a bigint, got number/],
  [{ curve: { ...registry.bn254.g2, a: 0n } }, /a\.c0 must be a bigint, got undefined/],
  [{ curve: { ...registry.bn254.g2, nonResidue: undefined } }, /a must be a bigint, got object/],
  [{ curve: { ...registry.bn254.g2, a: { c0: 0n, c1: registry.bn254.g2.p } } }, /a\.c1 must be in \[0, p\)$/],
  [{ curve: { ...registry.bn254.g2, b: { c0: 0n, c1: 0n } } }, /b = 0 is not supported/],
  [{ curve: { ...registry.bn254.g2, order: 5n } }, /order times the generator must be infinity/],
])('no engine of %o', async (options, message) => {
  const made = createMsmEngine({ ...options, device: await getDevice() } as never);
  await expect(made).rejects.toMatchObject({
    code: 'bad-argument',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

test.each(names)('%s G2 by constants equals the named group, and noble’s', async (name) => {
  const { Point } = oraclesOfG2[name];
  const { a, b, n } = Point.CURVE();
  const curve = registry[name].g2;
  const { x, y } = Point.BASE.toAffine();
  const pairs = { a: numbersOf(a), b: numbersOf(b), x: numbersOf(x), y: numbersOf(y) };
  expect({
    ...{ a: numbersOf(curve.a), b: numbersOf(curve.b) },
    ...{ x: numbersOf(curve.generator.x), y: numbersOf(curve.generator.y) },
  }).toEqual(pairs);
  expect([curve.order, curve.p ** 2n]).toEqual([n, Point.Fp.ORDER]);
  expect(
    Point.BASE.multiplyUnsafe(n - 1n)
      .add(Point.BASE)
      .is0(),
  ).toBe(true);
  const own = await openCurve(curve, undefined);
  expect(own).toMatchObject({ negatesScalars: false, pointBytes: 2 * oraclesOfG2[name].coordinateBytes });
});

test('constants of noble can be computed on', async () => {
  const oracle = oraclesOfG2.bn254;
  const { n: order, a, b, Gx, Gy } = oracle.Point.CURVE();
  const { points, logs } = makeKnownBases(oracle, 8, 33);
  const engine = await createMsmEngine({
    curve: { name: 'mine', p: bn254FromNoble.p, order, nonResidue: -1n, a, b, generator: { x: Gx, y: Gy } },
    device: await getDevice(),
  });
  try {
    expect(await engine.msm(await engine.loadBases(points), logs)).toEqual(expectedMsm(oracle, logs, logs));
  } finally {
    engine.destroy();
  }
});
