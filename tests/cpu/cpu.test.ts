/** CPU path of small MSMs, alone against noble and the textbook, and in an engine. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { pointDistributions } from '../../dev/cases/point-distributions.js';
import { scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { everyPoints, everyScalars } from '../../dev/cases/select.js';
import { bls12381, bls12381Oracle } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type Curve, curveContext } from '../../src/curves/curve.js';
import { toAffine } from '../../src/curves/jacobian.js';
import { readerOf } from '../../src/curves/point-source.js';
import { encodePoints } from '../../src/engine/arguments.js';
import type { MsmEngine } from '../../src/index.js';
import { pippenger, signedDigits } from '../../src/msm/pippenger.js';
import { cpuWindowBits } from '../../src/msm/plan/tuning.js';
import { windowCount } from '../../src/msm/plan/workload.js';
import { publicPoint } from '../../src/msm/stages/combine-windows.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { openEngine } from '../support/engines.js';
import { type LeasedDevice, leaseGpu } from '../support/leased-gpu.js';
import { orderTwoCase } from '../support/order-two.js';
import { sleep } from '../support/time.js';

const compute = async (
  curve: Curve,
  points: Uint8Array<ArrayBuffer>,
  scalars: Uint8Array<ArrayBuffer>,
): Promise<AffinePoint> => {
  const context = curveContext(curve);
  const { sum } = await pippenger(
    context,
    readerOf(context, { bytes: points, scale: 1n, encoding: 'le' }),
    scalars,
    new TimeSlice(() => undefined),
  );
  return publicPoint(context, toAffine(context, sum)) as AffinePoint;
};

describe('sums on the CPU', () => {
  test('signed digits add up to the scalar, and none is larger than half a window', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 16 }), fc.bigInt({ min: 0n, max: bn254.order - 1n }), (c, scalar) => {
        const digits = signedDigits(scalar, c, windowCount(254, c));
        expect(digits.reduce((sum, digit, j) => sum + (BigInt(digit) << BigInt(j * c)), 0n)).toBe(scalar);
        for (const digit of digits) expect(Math.abs(digit)).toBeLessThanOrEqual(2 ** (c - 1));
      }),
      {
        numRuns: 300,
        seed: 5,
        examples: [
          [2, bn254.order - 1n],
          [16, 2n ** 253n - 1n],
          [5, 0n],
        ],
      },
    );
  });

  test.each(everyPoints)('points=%s with every distribution of scalars', async (name) => {
    for (const n of [1, 2, 3, 40]) {
      const points = pointDistributions[name].make(n, 51);
      for (const distribution of everyScalars) {
        const { values, bytes } = scalarDistributions[distribution].make(n, 51);
        const sum = await compute(bn254, points.bytes, bytes);
        expect(sum, `${distribution}, n = ${n}`).toEqual(expectedMsm(bn254G1, points.logs, values));
      }
    }
  });

  test('other widths of windows, and another curve, give the right sum', async () => {
    const widths = new Set([1, 30, 120, 600].map((n) => cpuWindowBits(254, (c) => n * windowCount(254, c))));
    expect(widths.size).toBeGreaterThan(3);
    for (const n of [120, 600]) {
      const known = makeKnownBases(bn254G1, n, 52);
      const scalars = makeRandomScalars(bn254G1, n, 53);
      const sum = await compute(bn254, known.bytes, encodeScalars(bn254G1, scalars));
      expect(sum).toEqual(expectedMsm(bn254G1, known.logs, scalars));
    }
    const known = makeKnownBases(bls12381Oracle, 20, 54);
    const scalars = makeRandomScalars(bls12381Oracle, 20, 55);
    const sum = await compute(bls12381, known.bytes, encodeScalars(bls12381Oracle, scalars));
    expect(sum).toEqual(expectedMsm(bls12381Oracle, known.logs, scalars));
  });

  test('points of order 2, which noble has no curve for, give the right sum', async () => {
    const { curve, points, scalars, expected } = orderTwoCase();
    const bytes = encodePoints(curveContext(curve), points);
    expect(await compute(curve, bytes, encodeScalars(bn254G1, scalars))).toEqual(expected);
  });
});

describe('small MSMs in an engine', () => {
  const bound = 20;
  const { points, scalars, expected } = makeCase({ points: 'few-with-signs', scalars: 'unreduced', n: bound, seed: 6 });
  const tuning = { cpuBelow: bound };
  let engine: MsmEngine;
  beforeAll(async () => {
    engine = await openEngine({ tuning });
  });

  test('run on the CPU up to the bound, larger ones on the GPU, and both are right', async () => {
    for (const [n, on] of [
      [1, 'cpu'],
      [bound, 'cpu'],
      [bound + 1, 'gpu'],
    ] as const) {
      const own = makeCase({ points: 'pairs', scalars: 'carry-patterns', n, seed: 7 });
      const loaded = await engine.loadBases(own.points.bytes);
      expect(await engine.msm(loaded, own.scalars.bytes)).toEqual(own.expected);
      expect(engine.lastRun).toMatchObject({ on, n, ...(on === 'gpu' && { submits: 1 }) });
      loaded.destroy();
    }
  });

  test('are right from any offset, by bytes or bigints, with progress, and leave the GPU idle', async () => {
    const { gpu, devices } = await leaseGpu();
    const own = await openEngine({ gpu, tuning });
    const loaded = await own.loadBases(points.bytes);
    const queue = (devices[0] as LeasedDevice).device.queue;
    queue.submit = () => {
      throw new Error('something was submitted');
    };
    for (const offset of [0, 1, 7, bound]) {
      const rest = scalars.values.slice(offset);
      const ticks: number[] = [];
      const sum = await own.msm(loaded, rest, { offset, onProgress: ({ done, total }) => ticks.push(done / total) });
      expect(sum).toEqual(expectedMsm(bn254G1, points.logs.slice(offset), rest));
      expect(ticks).toEqual(offset === bound ? [] : [0, 1]);
    }
  });

  test('run on the GPU if the points are not in main memory', async () => {
    const own = await openEngine({ tuning, retainBases: false });
    expect(await own.msm(await own.loadBases(points.bytes), scalars.bytes)).toEqual(expected);
    expect(own.lastRun?.on).toBe('gpu');
  });

  test('run while the GPU is being lost', async () => {
    const { gpu, devices } = await leaseGpu();
    const own = await openEngine({ gpu, tuning });
    const loaded = await own.loadBases(points.bytes);
    devices[0]?.device.destroy();
    await devices[0]?.device.lost;
    expect(await own.msm(loaded, scalars.bytes)).toEqual(expected);
    expect(devices).toHaveLength(1);
  });

  test('end with an abort, destroyed bases or a destroyed engine', async () => {
    const large = makeCase({ points: 'distinct', scalars: 'random', n: 6000, seed: 8 });
    const own = await openEngine({ tuning: { cpuBelow: 6000 } });
    const start = async () => {
      const loaded = await own.loadBases(large.points.bytes, { label: 'gone' });
      const controller = new AbortController();
      return { loaded, controller, call: own.msm(loaded, large.scalars.bytes, { signal: controller.signal }) };
    };
    const soon = () => sleep(1);
    const aborted = await start();
    await soon();
    aborted.controller.abort();
    await expect(aborted.call).rejects.toMatchObject({ code: 'aborted' });

    const gone = await start();
    await soon();
    gone.loaded.destroy();
    await expect(gone.call).rejects.toMatchObject({ code: 'destroyed', message: expect.stringContaining('gone') });

    const right = await start();
    expect(await right.call).toEqual(large.expected);

    const last = await start();
    await soon();
    own.destroy();
    await expect(last.call).rejects.toMatchObject({ code: 'destroyed' });
  });
});

test('the page gets control within 64 additions once a frame has passed', async () => {
  const { points, scalars } = makeCase({ points: 'distinct', scalars: 'random', n: 300, seed: 9 });
  // on this clock a frame passes whenever somebody looks
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 17;
    return now;
  });
  let turns = 0;
  const { entries, windows, windowBits } = await pippenger(
    curveContext(bn254),
    readerOf(curveContext(bn254), { bytes: points.bytes, scale: 1n, encoding: 'le' }),
    scalars.bytes,
    new TimeSlice(() => {
      turns++;
    }),
  ).finally(() => clock.mockRestore());
  // reading the points, filling the buckets, summing them up
  const pieces = 300 + entries + windows * 2 ** (windowBits - 1);
  expect(turns).toBe(Math.floor(pieces / 64));
});
