/**
 * Sums on the CPU in WebAssembly, against noble: every curve and group, one lane and two, and every
 * exceptional case.
 */
import { describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { pointDistributions } from '../../dev/cases/point-distributions.js';
import { scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { everyGroup, everyPoints, everyScalars } from '../../dev/cases/select.js';
import { type CurveGroup, edwardsNames, oracleOf } from '../../dev/oracle/curves.js';
import {
  bn254G1,
  encodePoints,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type CurveContext, curveContext } from '../../src/curves/curve.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { createMsmEngine } from '../../src/index.js';
import { digitsOfScalars } from '../../src/msm/cpu/buckets.js';
import { combineWindows } from '../../src/msm/cpu/combine-on-cpu.js';
import { multiplyOnCpu } from '../../src/msm/cpu/cpu-backend.js';
import { FEW_POINTS } from '../../src/msm/cpu/few-points.js';
import { rowsOf, Share } from '../../src/msm/cpu/share.js';
import { NO_TABLES, survey } from '../../src/msm/plan/workload.js';
import { finish } from '../../src/scheduling/time-slice.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { additions } from '../support/additions.js';
import { arithmeticsHere, kernelFor } from '../support/kernels.js';
import { orderTwoCase } from '../support/order-two.js';

const contextOf = ({ curve, group }: CurveGroup): Promise<CurveContext> => openCurve(curve, group);

/** Edwards curves are computed on through their images (tests/engine/edwards.test.ts). */
const groups = everyGroup
  .filter(({ curve }) => !(edwardsNames as readonly string[]).includes(curve))
  .map((of) => [`${of.curve} ${of.group}`, of] as const);

describe.each(arithmeticsHere)('lists of additions, %s', (arithmetic) => {
  test.each(groups)('of %s', async (_, of) => {
    const adder = await PointAdder.open(await kernelFor(await contextOf(of), arithmetic));
    const { count, wrong } = additions(of, adder);
    expect(wrong).toEqual([]);
    expect(count).toBe(4 * 13 ** 2);
  });
});

type Bytes = Uint8Array<ArrayBuffer>;

const multiply = (curve: CurveContext, points: Bytes, scalars: Bytes, offset = 0) => {
  const vector = { ...survey(curve, scalars, NO_TABLES, true), offset };
  return multiplyOnCpu(curve, { bytes: points, scale: 1n, encoding: 'le' }, [vector], () => undefined);
};

describe.each(arithmeticsHere)('the check of points, %s', (arithmetic) => {
  test.each(groups)('%s', async (_, of) => {
    const curve = await contextOf(of);
    const oracle = oracleOf(of);
    const n = 40;
    const points = pointDistributions['with-infinities'].make(n, 6, oracle);
    const words = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.slice().buffer);
    const adder = await PointAdder.open(await kernelFor(curve, arithmetic));
    const checked = (bytes: Uint8Array, count = n): number => {
      adder.release();
      return adder.check(adder.enter(words(bytes.subarray(0, count * curve.pointBytes)), 1n), count);
    };
    for (const count of [0, 1, 2, 3, n]) expect(checked(points.bytes, count)).toBe(count);
    const finite = points.points.flatMap(({ infinity }, i) => (infinity ? [] : [i]));
    expect(finite.length).toBeLessThan(n);
    for (const at of [finite[0], finite[1], finite.at(-1)] as number[]) {
      // every coefficient of x and of y counts
      for (let number = 0; number < curve.pointBytes / curve.field.bytes; number++) {
        const bytes = points.bytes.slice();
        const byte = at * curve.pointBytes + number * curve.field.bytes;
        bytes[byte] = (bytes[byte] as number) ^ 1;
        expect(checked(bytes), `number ${number} of point ${at}`).toBe(at);
      }
    }
    // 0 is an x, or a y, but of infinity alone both
    const half = points.bytes.slice();
    half.fill(0, (finite[3] as number) * curve.pointBytes, ((finite[3] as number) + 0.5) * curve.pointBytes);
    expect(checked(half)).toBe(finite[3]);
  });
});

describe('sums in WebAssembly', () => {
  const curve = curveContext(bn254);
  test.each(everyPoints)('points=%s with every distribution of scalars are right', async (name) => {
    for (const n of [1, 2, 3, 40, 300]) {
      const points = pointDistributions[name].make(n, 51);
      for (const distribution of everyScalars) {
        const { values, bytes } = scalarDistributions[distribution].make(n, 51);
        const { sums, arithmetic } = await multiply(curve, points.bytes, bytes);
        expect(sums, `${distribution}, n = ${n}`).toEqual([expectedMsm(bn254G1, points.logs, values)]);
        if (distribution === 'random' && n > FEW_POINTS) expect(arithmetic).toBe(arithmeticsHere[0]);
      }
    }
  });

  test.each(groups)('on %s', async (_, of) => {
    const context = await contextOf(of);
    for (const [points, scalars, n] of [
      ['few-with-signs', 'carry-patterns', 200],
      ['distinct', 'unreduced', 67],
      ['doubling-chain', 'short-32', 50],
    ] as const) {
      const { points: bases, scalars: factors, expected } = makeCase({ ...of, points, scalars, n, seed: 8 });
      expect((await multiply(context, bases.bytes, factors.bytes)).sums).toEqual([expected]);
    }
  });

  test('are right for more points than fit in one round, some of them skipped', { tags: 'long' }, async () => {
    const n = 2 ** 16 + 1000;
    const known = makeKnownBases(bn254G1, n + 5, 3);
    const scalars = makeRandomScalars(bn254G1, n, 4).map((scalar, i) => (i % 5 === 0 ? scalar : scalar % 2n ** 20n));
    const { sums } = await multiply(curve, known.bytes, encodeScalars(bn254G1, scalars), 5);
    expect(sums).toEqual([expectedMsm(bn254G1, known.logs.slice(5), scalars)]);
  });

  test('of 2^16 points take less than 16 MiB of memory', { tags: 'long' }, async () => {
    const n = 2 ** 16;
    const known = makeKnownBases(bn254G1, n, 5);
    const values = makeRandomScalars(bn254G1, n, 6);
    const adder = await PointAdder.open(await kernelFor(curve, 'wasm-simd'));
    expect(adder.bytes).toBeLessThan(2 ** 18);
    const digits = digitsOfScalars(curve, encodeScalars(bn254G1, values), 253, 13);
    const operands = { points: new Uint32Array(known.bytes.buffer), scale: 1n, digits };
    const share = new Share(adder, [operands]);
    finish(share.add(0, rowsOf(operands)));
    const [sum] = finish(combineWindows(curve, adder, [digits], [finish(share.settle())]));
    const { x, y } = expectedMsm(bn254G1, known.logs, values);
    expect(sum).toEqual({ x, y });
    expect(adder.bytes).toBeLessThan(16 * 2 ** 20);
  });

  test('are right for points of order 2, which noble has no curve for', async () => {
    const { curve: even, points, scalars, expected } = orderTwoCase();
    const { sums } = await multiply(curveContext(even), encodePoints(bn254G1, points), encodeScalars(bn254G1, scalars));
    expect(sums).toEqual([expected]);
  });

  test.each([
    [20, null],
    [8192, expect.stringMatching(/^WebAssembly is missing or forbidden/)],
  ])('of %d points are computed with BigInts if the platform forbids WebAssembly', async (n, noWorkers) => {
    const { points, scalars, expected } = makeCase({ points: 'few-with-signs', scalars: 'unreduced', n, seed: 6 });
    const compile = vi.spyOn(WebAssembly, 'compile').mockRejectedValue(new WebAssembly.CompileError('forbidden'));
    const warnings: string[] = [];
    try {
      // constants of their own, for which nothing was compiled
      const engine = await createMsmEngine({
        curve: { ...bn254 },
        backend: 'cpu',
        maxWorkers: 2,
        onWarning: (message) => warnings.push(message),
      });
      const bases = await engine.loadBases(points.bytes);
      expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
      expect(engine.lastRun).toMatchObject({ arithmetic: 'bigint', workers: 0, noWorkers });
      expect(warnings).toHaveLength(noWorkers === null ? 0 : 1);
      engine.destroy();
    } finally {
      compile.mockRestore();
    }
  });

  test('of many points call the checkpoint between time slices, and end if it throws', async () => {
    const { points, scalars } = makeCase({ points: 'distinct', scalars: 'random', n: 4000, seed: 6 });
    const vector = { ...survey(curve, scalars.bytes, NO_TABLES, true), offset: 0 };
    let turns = 0;
    const checkpoint = () => {
      if (++turns === 3) throw new Error('enough');
    };
    const source = { bytes: points.bytes, scale: 1n, encoding: 'le' as const };
    await expect(multiplyOnCpu(curve, source, [vector], checkpoint)).rejects.toThrow('enough');
    const { sums } = await multiply(curve, points.bytes, scalars.bytes);
    expect(sums).toEqual([expectedMsm(bn254G1, points.logs, scalars.values)]);
  });
});
