/**
 * The end of the dispatch chain, reading sums back: a point that arrives in another place, or as
 * another point of the curve, is found before anything is added up.
 */
import { describe, expect, test } from 'vitest';
import { engineIn } from '../../dev/cases/msm-case.js';
import { type PointChange, pointChangeNames, pointChanges, pointsIn } from '../../dev/faults/data-faults.js';
import { type CurveGroup, oracleOf } from '../../dev/oracle/curves.js';
import { expectedMsm, groupOrder, makeKnownBases, Random } from '../../dev/oracle/known-bases.js';
import { curveContext } from '../../src/curves/curve.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { type Coordinate, createMsmEngine, type MsmEngine, type MsmEngineOptions, MsmError } from '../../src/index.js';
import { Bench, large, small, tuning } from '../support/failure-bench.js';
import { type Call, type LeasedDevice, type LeasedGpu, leaseGpu } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCurve } from '../support/small-curve.js';

/** Binding of the last walk for its sums. */
const SUMS = 4;

/**
 * Changes points in the bytes that the host maps. Where they are is read off the bindings of the
 * walks, part by part; bind groups are made again after `trim`.
 *
 * @param times of the attempts of the call, how many it strikes
 */
const strikePoints = async (
  { engine, lease }: { readonly engine: MsmEngine<Coordinate>; readonly lease: LeasedDevice },
  pointBytes: number,
  change: (points: Uint8Array[]) => void,
  times = 1,
): Promise<{ points: number[] }> => {
  await engine.trim();
  const strikes: { points: number[] } = { points: [] };
  let stretches: { offset: number; size: number }[] = [];
  const noteStretch = ({ args: [descriptor] }: Call): void => {
    const sums = [...(descriptor as GPUBindGroupDescriptor).entries][SUMS] as GPUBindGroupEntry;
    const { buffer, offset, size } = sums.resource as Required<GPUBufferBinding>;
    if (buffer.label.endsWith(' result')) stretches.push({ offset, size });
  };
  lease.tap = (call) => {
    if (call.method === 'createBindGroup' && call.label === 'walk') noteStretch(call);
    const given = call.proceed();
    if (call.method !== 'getMappedRange' || stretches.length === 0 || strikes.points.length === times) return given;
    const bytes = new Uint8Array(given as ArrayBuffer);
    const points = stretches.flatMap(({ offset, size }) => pointsIn(bytes.subarray(offset, offset + size), pointBytes));
    stretches = [];
    const before = Buffer.from(bytes);
    for (let tries = 0; tries < 10 && before.equals(bytes); tries++) change(points);
    expect(before.equals(bytes)).toBe(false);
    strikes.points.push(points.length);
    return given;
  };
  return strikes;
};

const FOUND = /in read-back: other sums came back than those that the last walk wrote, or in other places/;

const pointBytes = 4 * curveContext(smallCurve).pointWords;
const changed = (name: PointChange, seed: number): ((points: Uint8Array[]) => void) => {
  const random = new Random(seed);
  return (points) => pointChanges[name](random, points);
};

describe.each(pointChangeNames)('%s', (name) => {
  const open = async (options: Partial<MsmEngineOptions> = {}) => {
    const bench = await Bench.open(options);
    const bases = await bench.load(large);
    expect(await bench.msm(bases, large)).toEqual(large.expected);
    return { bench, bases };
  };

  const isFound = async (first: number, last: number): Promise<void> => {
    const { bench, bases } = await open();
    for (let seed = first; seed <= last; seed++) {
      const strikes = await strikePoints(bench, pointBytes, changed(name, seed));
      expect(await bench.msm(bases, large), `seed ${seed}`).toEqual(large.expected);
      expect(strikes.points).toHaveLength(1);
      expect(bench.engine.lastRun?.retried).toMatch(FOUND);
    }
    bench.close();
  };
  const title = 'drawn by the seeds %i to %i is found, and the call is repeated';
  test.each([[1, 6]])(title, isFound);
  test.each([[7, 20]])(title, { tags: 'long' }, isFound);

  test('each time rejects the call', async () => {
    const { bench, bases } = await open();
    const strikes = await strikePoints(bench, pointBytes, changed(name, 1), 2);
    const error = await bench.msm(bases, large).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MsmError);
    expect(error).toMatchObject({ code: 'internal', message: expect.stringMatching(FOUND) });
    expect(strikes.points).toHaveLength(2);
    bench.lease.tap = (call) => call.proceed();
    expect(await bench.msm(bases, large)).toEqual(large.expected);
    bench.close();
  });
});

/** How else jobs come to be, each of which comes back in another shape. */
const shapes: Readonly<
  Record<
    string,
    { options?: Partial<MsmEngineOptions>; checks?: boolean; precompute?: number; vectors?: readonly (typeof small)[] }
  >
> = {
  'two vectors of a part': { vectors: [large, large] },
  'vectors of two parts': { vectors: [large, small, large] },
  'several submits': { options: { tuning: { ...tuning, additionsPerSubmit: 1024 } } },
  'several chunks': { options: { memoryBudget: 80_000, tuning: { ...tuning, windowBits: 3 } } },
  'tables of the bases': { precompute: 3 },
  'between checks of the stages': { checks: true },
  'computed twice': { options: { verify: true } },
};

describe.each(Object.entries(shapes))(
  '%s',
  (shape, { options = {}, checks = false, precompute = 1, vectors = [large] }) => {
    const isFound = async (name: PointChange): Promise<void> => {
      const bench = await Bench.open({ ...options, checks });
      const bases = await bench.load(large, { precompute });
      const call = () =>
        vectors.length > 1
          ? bench.engine.msmBatch(
              bases,
              vectors.map(({ scalars }) => scalars),
            )
          : bench.msm(bases, large).then((sum) => [sum]);
      const expected = vectors.map((vector) => vector.expected);
      let maps = 0;
      bench.lease.tap = ({ method, proceed }) => {
        if (method === 'mapAsync') maps++;
        return proceed();
      };
      expect(await call()).toEqual(expected);
      expect(maps > 1).toBe(shape === 'several chunks' || shape === 'computed twice');
      if (shape.startsWith('several')) expect(gpuRunOf(bench.engine).submits).toBeGreaterThan(1);
      for (let seed = 1; seed <= 3; seed++) {
        const strikes = await strikePoints(bench, pointBytes, changed(name, seed));
        expect(await call(), `seed ${seed}`).toEqual(expected);
        expect(strikes.points).toHaveLength(1);
        expect(bench.engine.lastRun?.retried).toMatch(FOUND);
      }
      bench.close();
    };
    // in the first tier each shape has another change
    const own = pointChangeNames[Object.keys(shapes).indexOf(shape) % pointChangeNames.length];
    test.each(pointChangeNames.filter((name) => name === own))('%s', isFound);
    test.each(pointChangeNames.filter((name) => name !== own))('%s', { tags: 'long' }, isFound);
  },
);

test('a sum of one part in the place of another is found', async () => {
  const bench = await Bench.open();
  const bases = await bench.load(large);
  const batch = () => bench.engine.msmBatch(bases, [large.scalars, small.scalars]);
  expect(await batch()).toEqual([large.expected, small.expected]);
  const strikes = await strikePoints(bench, pointBytes, (points) => {
    const [first, last] = [points[0], points.at(-1)] as [Uint8Array, Uint8Array];
    const kept = first.slice();
    first.set(last);
    last.set(kept);
  });
  expect(await batch()).toEqual([large.expected, small.expected]);
  expect(strikes.points).toHaveLength(1);
  expect(bench.engine.lastRun?.retried).toMatch(FOUND);
  bench.close();
});

const inGroup = async (of: CurveGroup): Promise<void> => {
  const oracle = oracleOf(of);
  const { pointWords } = await openCurve(of.curve, of.group);
  const n = 40;
  const known = makeKnownBases(oracle, n, 5);
  const random = new Random(6);
  const scalars = known.logs.map(() => random.belowBig(groupOrder(oracle)));
  const leased: LeasedGpu = await leaseGpu();
  const engine: MsmEngine<Coordinate> = await engineIn(createMsmEngine, of, {
    gpu: leased.gpu,
    selfTest: false,
    tuning: { cpuBelow: 0, windowBits: 6 },
  });
  try {
    const bases = await engine.loadBases(known.bytes);
    const expected = expectedMsm(oracle, known.logs, scalars);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    for (const [seed, name] of pointChangeNames.entries()) {
      const lease = leased.devices[0] as LeasedDevice;
      const strikes = await strikePoints({ engine, lease }, 4 * pointWords, changed(name, seed));
      expect(await engine.msm(bases, scalars), name).toEqual(expected);
      expect(strikes.points).toHaveLength(1);
      expect(engine.lastRun?.retried).toMatch(FOUND);
    }
  } finally {
    engine.destroy();
  }
};
describe('sums read back in other groups', () => {
  const groups: readonly CurveGroup[] = [
    { curve: 'bn254', group: 'g1' },
    { curve: 'bn254', group: 'g2' },
    { curve: 'bls12-381', group: 'g1' },
    { curve: 'bls12-381', group: 'g2' },
    { curve: 'ed25519', group: 'g1' },
  ];
  const ofEach = groups.map((of) => [`${of.curve} ${of.group}`, of] as const);
  test.each(ofEach)('%s', { tags: 'long' }, (_, of) => inGroup(of));
});
