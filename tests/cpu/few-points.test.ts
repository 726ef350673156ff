/**
 * Sums of few points by Horner's rule over bits: every group against noble, points of order 2
 * against the textbook, and the choice between this and buckets.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { everyGroup, everyPoints, everyScalars } from '../../dev/cases/select.js';
import type { CurveGroup } from '../../dev/oracle/curves.js';
import { bn254G1, type Coordinate, encodeScalars } from '../../dev/oracle/known-bases.js';
import { type CurveContext, curveContext } from '../../src/curves/curve.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { encodePoints } from '../../src/engine/arguments.js';
import type { MsmEngine } from '../../src/index.js';
import { SUMS_BEFORE } from '../../src/msm/cpu/combine-on-cpu.js';
import { FEW_POINTS, LEAST_BITS, sumOfFew } from '../../src/msm/cpu/few-points.js';
import { NO_TABLES, survey } from '../../src/msm/plan/workload.js';
import type { Horner } from '../../src/msm/stages/horner.js';
import { WasmHorner } from '../../src/wasm/points/horner-kernel.js';
import { keptEngine, openEngine } from '../support/engines.js';
import { orderTwoCase } from '../support/order-two.js';
import { TextbookCurve } from '../support/textbook-curve.js';

const mostOf = ({ group }: CurveGroup): number => (group === 'g2' ? FEW_POINTS / 2 : FEW_POINTS);

/** Returns an engine whose next sums of few points have no buckets. */
const openWarm = async ({ curve, group }: CurveGroup): Promise<MsmEngine<Coordinate>> => {
  const engine = await keptEngine({ curve, group }, { backend: 'cpu' });
  const { points, scalars } = makeCase({ curve, group, points: 'distinct', scalars: 'random', n: 1, seed: 1 });
  const bases = await engine.loadBases(points.bytes);
  await vi.waitFor(
    async () => {
      await engine.msm(bases, scalars.bytes);
      if (engine.lastRun?.windowBits !== 1) throw new Error('buckets computed the sum');
    },
    { timeout: 10_000 },
  );
  return engine;
};

const vectorOf = (curve: CurveContext, scalars: Uint8Array<ArrayBuffer>) => ({
  ...survey(curve, scalars, NO_TABLES),
  offset: 0,
});

const sumsAreRight = async (of: CurveGroup) => {
  const engine = await openWarm(of);
  const most = mostOf(of);
  for (let n = 1; n <= most + 1; n++) {
    const own = makeCase({ ...of, points: 'few-with-signs', scalars: 'carry-patterns', n, seed: n });
    const bases = await engine.loadBases(own.points.bytes);
    expect(await engine.msm(bases, own.scalars.bytes)).toEqual(own.expected);
    expect(engine.lastRun).toMatchObject({ on: 'cpu', n });
    const random = makeCase({ ...of, points: 'few-with-signs', scalars: 'random', n, seed: n });
    expect(await engine.msm(bases, random.scalars.bytes)).toEqual(random.expected);
    expect(engine.lastRun?.windowBits === 1).toBe(n <= most);
    bases.destroy();
  }
};

describe('all sizes, repeated and opposite points, edge scalars', () => {
  const isFirst = ({ curve }: CurveGroup): boolean => curve === 'bn254' || curve === 'p256';
  test.each(everyGroup.filter(isFirst))('$curve $group', sumsAreRight);
  test.each(everyGroup.filter((of) => !isFirst(of)))('$curve $group', { tags: 'long' }, sumsAreRight);
});

describe('on BN254', () => {
  const of = { curve: 'bn254', group: 'g1' } as const;
  let engine: MsmEngine<Coordinate>;
  beforeAll(async () => {
    engine = await openWarm(of);
  });

  test.each(everyPoints)('points=%s with every distribution of scalars', async (points) => {
    for (const n of [1, 2, 3, FEW_POINTS]) {
      for (const scalars of everyScalars) {
        const own = makeCase({ ...of, points, scalars, n, seed: 51 });
        const bases = await engine.loadBases(own.points.bytes);
        expect(await engine.msm(bases, own.scalars.bytes), `${scalars}, n = ${n}`).toEqual(own.expected);
        bases.destroy();
      }
    }
  });

  test('a forced arithmetic, a batch, and short scalars take buckets', async () => {
    const { points, scalars, expected } = makeCase({ ...of, points: 'distinct', scalars: 'random', n: 2, seed: 3 });
    const forced = await openEngine({ backend: 'cpu', tuning: { cpuArithmetic: 'wasm' } });
    for (let i = 0; i <= SUMS_BEFORE; i++) {
      expect(await forced.msm(await forced.loadBases(points.bytes), scalars.bytes)).toEqual(expected);
      expect(forced.lastRun?.windowBits).toBeGreaterThan(1);
    }
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msmBatch(bases, [scalars.bytes, scalars.bytes])).toEqual([expected, expected]);
    expect(engine.lastRun?.windowBits).toBeGreaterThan(1);
    for (const [bits, isFew] of [
      [LEAST_BITS - 1, false],
      [LEAST_BITS, true],
    ] as const) {
      await engine.msm(bases, [2n ** BigInt(bits) - 1n, 1n]);
      expect(engine.lastRun?.windowBits === 1).toBe(isFew);
    }
  });

  test('points that the arithmetic finds on no curve take buckets', async () => {
    const curve = await openCurve('bn254', 'g1');
    const { points, scalars } = makeCase({ ...of, points: 'distinct', scalars: 'random', n: 2, seed: 4 });
    const horner = await WasmHorner.open(curve);
    const wrong: Horner = {
      take: (words) => horner.take(words) - 1,
      double: () => horner.double(),
      add: (index) => horner.add(index),
      total: () => horner.total(),
    };
    const source = { bytes: points.bytes, scale: 1n, encoding: 'le' } as const;
    expect(sumOfFew(curve, wrong, source, vectorOf(curve, scalars.bytes))).toBeNull();
  });
});

test('points of order 2, which noble has no curve for, give the right sum', async () => {
  const { curve, points, scalars } = orderTwoCase();
  const textbook = new TextbookCurve(curve);
  const context = curveContext(curve);
  const horner = await WasmHorner.open(context);
  for (let first = 0; first + 3 <= points.length; first++) {
    const [some, factors] = [points.slice(first, first + 3), scalars.slice(first, first + 3)];
    const expected = some
      .map((point, i) => textbook.multiply(point, factors[i] as bigint))
      .reduce((sum, point) => textbook.add(sum, point));
    const source = { bytes: encodePoints(context, some), scale: 1n, encoding: 'le' } as const;
    const vector = vectorOf(context, encodeScalars(bn254G1, factors));
    expect(sumOfFew(context, horner, source, vector)?.sum).toEqual(expected);
  }
});
