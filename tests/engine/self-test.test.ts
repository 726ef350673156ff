/**
 * Self-test: the pipelines that an engine will use must give known answers before it trusts a
 * result of theirs.
 */
import { describe, expect, test } from 'vitest';
import { oracles, secp192r1, secp192r1Oracle, weierstrassNames } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  bn254G1,
  expectedMsm,
  makeKnownBases,
  type OracleCurve,
  toAffinePoint,
} from '../../dev/oracle/known-bases.js';
import { type Curve, isOnCurve, withProduct } from '../../src/curves/curve.js';
import type { WeierstrassName } from '../../src/curves/more-curves.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { squareRoot } from '../../src/field/powers.js';
import { createMsmEngine, type MsmEngine, type MsmEngineOptions, type Tuning } from '../../src/index.js';
import { knownAnswer } from '../../src/msm/gpu/verify-sums.js';
import { getDevice } from '../support/gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { TextbookCurve } from '../support/textbook-curve.js';

const readNumber = (bytes: Uint8Array): bigint => bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);

describe('the known answer of the self-test', () => {
  const curves: [string, WeierstrassName | Curve, OracleCurve][] = [
    ...weierstrassNames.map((name): [string, WeierstrassName, OracleCurve] => [name, name, oracles[name]]),
    ['secp192r1', secp192r1, secp192r1Oracle],
  ];

  /**
   * noble takes no points of order 2, and on BLS12-377 (-1, 0) is one of the hard points: its even
   * multiples are infinity, and the others are itself.
   */
  const sumOf = (
    curve: Curve,
    { Point }: OracleCurve,
    points: readonly AffinePoint[],
    scalars: readonly bigint[],
  ): AffinePoint => {
    const terms = points.map((point, i) => ({ ...point, scalar: scalars[i] as bigint }));
    const ofOrderTwo = terms.filter(({ y, infinity }) => !infinity && y === 0n);
    const sum = terms
      .filter(({ y, infinity }) => !infinity && y !== 0n)
      .map(({ x, y, scalar }) => Point.fromAffine({ x, y }).multiplyUnsafe(scalar))
      .reduce((total, term) => total.add(term), Point.ZERO);
    const textbook = new TextbookCurve(curve);
    return ofOrderTwo
      .filter(({ scalar }) => scalar % 2n === 1n)
      .reduce((total, { x, y }) => textbook.add(total, { x, y, infinity: false }), toAffinePoint(sum));
  };

  const isKnown = async (_: string, given: WeierstrassName | Curve, oracle: OracleCurve): Promise<void> => {
    for (const product of ['unsigned', 'dot4', 'fma'] as const) {
      const curve = withProduct(await openCurve(given, undefined), product);
      const known = knownAnswer(curve);
      const { pointBytes, p } = curve;
      const points = Array.from({ length: known.points.length / pointBytes }, (_, i): AffinePoint => {
        const bytes = known.points.subarray(i * pointBytes, (i + 1) * pointBytes);
        const [x, y] = [bytes.subarray(0, pointBytes / 2), bytes.subarray(pointBytes / 2)].map(readNumber) as [
          bigint,
          bigint,
        ];
        return { x, y, infinity: x === 0n && y === 0n };
      });
      const seen = { doubled: 0, opposite: 0, infinity: 0 };
      for (const [i, point] of points.entries()) {
        const before = points[i - 1];
        if (point.infinity) seen.infinity++;
        else if (before?.x === point.x) seen[before.y === point.y ? 'doubled' : 'opposite']++;
      }
      for (const count of Object.values(seen)) expect(count).toBeGreaterThanOrEqual(4);
      expect(
        points.every(({ x, y, infinity }) => infinity || isOnCurve(curve, x, y)),
        `mod ${p}`,
      ).toBe(true);
      const scalars = points.map((_, i) => readNumber(known.scalars.subarray(32 * i, 32 * i + 32)));
      expect(known.sum).toEqual(sumOf(curve.constants as Curve, oracle, points, scalars));
    }
  };
  test.each(curves)('on %s equals the oracle’s', isKnown);

  test('has coordinates that are hard to compute with, plain and in Montgomery form', async () => {
    for (const product of ['unsigned', 'dot4', 'fma'] as const) {
      const curve = withProduct(await openCurve('bn254', 'g1'), product);
      const { p, field } = curve;
      const { points } = knownAnswer(curve);
      const x = Array.from({ length: points.length / 64 }, (_, i) => readNumber(points.subarray(64 * i, 64 * i + 32)));
      for (const form of [1n, 1n << BigInt(field.montgomeryBits)]) {
        const forms = x.map((value) => (value * form) % p);
        // the first that there are
        for (const wanted of [0n, 1n, p / 2n, 2n ** 253n, p - 1n]) {
          const nearest = forms.reduce((least, each) => {
            const distance = each > wanted ? each - wanted : wanted - each;
            return distance < least ? distance : least;
          }, p);
          expect(nearest).toBeLessThan(16n);
        }
      }
    }
  });

  test('has limbs whose squares are hard to round for products by floats, either way', async () => {
    const curve = withProduct(await openCurve('bn254', 'g1'), 'fma');
    const { p, field } = curve;
    const { points } = knownAnswer(curve);
    const rests = Array.from({ length: points.length / 64 }, (_, i) => {
      const x = (readNumber(points.subarray(64 * i, 64 * i + 32)) << BigInt(field.montgomeryBits)) % p;
      return Array.from({ length: 10 }, (_, limb) => ((x >> BigInt(24 * limb)) & 0xffffffn) ** 2n % 2n ** 25n);
    });
    // the lowest limb is the next that gives a point
    for (const wanted of [2n ** 24n + 1n, 2n ** 24n - 7n]) {
      expect(rests.some(([, ...higher]) => higher.every((rest) => rest === wanted))).toBe(true);
    }
  });

  test('finds the square root of every square', () => {
    // p − 1 = odd · 2^twos, with 1, 2, 3 and 16 twos; and Pallas' 32
    for (const p of [10007n, 10009n, 10037n, 65537n, 2n ** 254n + 45560315531419706090280762371685220353n]) {
      let [roots, none] = [0, 0];
      for (let i = 0n; i < 200n; i++) {
        const a = (i * i * i * 0x9e3779b97f4a7c15n + i) % p;
        const isSquare = a === 0n || modularPower(a, (p - 1n) / 2n, p) === 1n;
        const root = squareRoot(a, p);
        if (root === null) none++;
        else roots++;
        expect(root !== null).toBe(isSquare);
        if (root !== null) expect((root * root) % p).toBe(a);
      }
      expect(Math.min(roots, none)).toBeGreaterThan(60);
    }
  });
});

const modularPower = (base: bigint, exponent: bigint, p: bigint): bigint => {
  let result = 1n;
  for (const bit of exponent.toString(2)) result = (((result * result) % p) * (bit === '1' ? base : 1n)) % p;
  return result;
};

/** Constants that only products of one kind have. */
const constants: Record<Exclude<Tuning['fieldProduct'], 'dot4'>, [string, string]> = {
  // limbs of 13 bits are masked
  unsigned: ['& 8191u', '& 4095u'],
  // 2^48, whose sums are 2^25 apart
  fma: [' 281474976710656.0f)', ' 140737488355328.0f)'],
};

/** A device whose driver changes the code of kernels of these names; how often it compiled. */
const changing = async (
  label: string,
  change: (code: string) => string,
  kernels: RegExp = /./,
): Promise<{ device: GPUDevice; compiled: string[] }> => {
  const device = await getDevice({ label });
  const create = device.createShaderModule.bind(device);
  const compiled: string[] = [];
  device.createShaderModule = (descriptor) => {
    const name = descriptor.label ?? '';
    compiled.push(name);
    return create(kernels.test(name) ? { ...descriptor, code: change(descriptor.code) } : descriptor);
  };
  return { device, compiled };
};

/** A device whose driver gets constants of these products wrong. */
const miscompiling = (products: readonly (keyof typeof constants)[], kernels?: RegExp) =>
  changing(
    `miscompiles ${products}`,
    (code) => products.reduce((text, product) => text.replaceAll(...constants[product]), code),
    kernels,
  );

const known = makeKnownBases(bn254G1, 40, 5);
const expected = expectedMsm(bn254G1, known.logs, known.logs);

/** Small workgroups compile fast, and nothing is left to the CPU. */
const quick = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, cpuBelow: 0 };

const engineOn = (
  device: GPUDevice,
  tuning: Partial<Tuning> = {},
  options: Partial<MsmEngineOptions> = {},
): Promise<MsmEngine> => createMsmEngine({ curve: 'bn254', device, tuning: { ...quick, ...tuning }, ...options });

/** An MSM on a field whose kernels compile in no time, for tests that are not about the field. */
const small = smallCase(40);
const onSmallCurve = { curve: smallCurve } as const;

describe('the self-test on a sound device', () => {
  test('runs before the first MSM on the GPU, and once on a device', { tags: 'long' }, async () => {
    const device = await getDevice({ label: 'right' });
    const [engine, other] = [await engineOn(device), await engineOn(device)];
    expect(engine.selfTest).toBe(null);
    const bases = await engine.loadBases(known.bytes);
    expect(engine.selfTest).toBe(null);
    expect(await engine.msm(bases, known.logs)).toEqual(expected);
    expect(engine.selfTest).toEqual({ product: 'unsigned', failed: null, ms: expect.any(Number) });
    expect(gpuRunOf(engine).fallback).toBe(null);
    const { ms } = engine.selfTest as { ms: number };
    expect(ms).toBeGreaterThan(1);
    await engine.msm(bases, known.logs);
    expect(engine.selfTest?.ms).toBe(ms);

    const submit = device.queue.submit.bind(device.queue);
    let submits = 0;
    device.queue.submit = (buffers) => {
      submits++;
      submit(buffers);
    };
    const theirs = await other.loadBases(known.bytes);
    expect(await other.msm(theirs, known.logs)).toEqual(expected);
    const first = submits;
    submits = 0;
    const again = await other.loadBases(known.bytes);
    expect(await other.msm(again, known.logs)).toEqual(expected);
    expect(submits).toBe(first);
    // what makes tables has to show it, too
    const tabled = await other.loadBases(known.bytes, { precompute: 2 });
    const before = other.selfTest?.ms as number;
    expect(await other.msm(tabled, known.logs)).toEqual(expected);
    expect(other.selfTest?.ms).toBeGreaterThan(before + 1);
    engine.destroy();
    other.destroy();
  });

  test('is part of warmup, and leaves no bases behind', async () => {
    const engine = await engineOn(await getDevice());
    await engine.warmup(100);
    expect(engine.selfTest).toMatchObject({ product: 'unsigned', failed: null });
    expect(engine.memory).toMatchObject({ bases: 0, scratch: 0 });
    engine.destroy();
  });

  test('does not run for calls on the CPU, nor if it is switched off', async () => {
    const onCpu = await engineOn(await getDevice(), { cpuBelow: 100 });
    expect(await onCpu.msm(await onCpu.loadBases(known.bytes), known.logs)).toEqual(expected);
    expect(onCpu.selfTest).toBe(null);
    const off = await engineOn(await getDevice(), {}, { selfTest: false });
    expect(await off.msm(await off.loadBases(known.bytes), known.logs)).toEqual(expected);
    expect(off.selfTest).toBe(null);
    for (const engine of [onCpu, off]) engine.destroy();
    await expect(engineOn(await getDevice(), {}, { selfTest: 1 as never })).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('selfTest'),
    });
  });

  test('passes on a curve over a small field', async () => {
    const device = await getDevice();
    const engine = await createMsmEngine({ curve: smallCurve, device, tuning: quick });
    await engine.warmup(16);
    expect(engine.selfTest).toMatchObject({ failed: null });
    engine.destroy();
  });

  test('can be aborted, and runs again with the next call', { tags: 'long' }, async () => {
    const engine = await engineOn(await getDevice({ label: 'aborted' }), {}, onSmallCurve);
    const bases = await engine.loadBases(small.points);
    const controller = new AbortController();
    const call = engine.msm(bases, small.scalars, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(await engine.msm(bases, small.scalars)).toEqual(small.expected);
    expect(engine.selfTest).toMatchObject({ failed: null });
    engine.destroy();
  });
});

describe('the self-test with a compiler that changes a constant', () => {
  test('replaces fma products by unsigned ones on the device', { tags: 'long' }, async () => {
    const { device, compiled } = await miscompiling(['fma']);
    const engine = await engineOn(device, { fieldProduct: 'fma', walkerPrefixMemory: 'workgroup' });
    // the import refuses what is right, and is believed no more than the walk
    const loaded = await engine.loadBases(known.bytes).catch((error: unknown) => error);
    if (loaded instanceof Error) expect(loaded).toMatchObject({ code: 'internal' });
    await engine.warmup(40);
    expect(engine.selfTest).toMatchObject({ product: 'unsigned', failed: expect.stringContaining('fma') });
    const bases = await engine.loadBases(known.bytes);
    expect(await engine.msm(bases, known.logs)).toEqual(expected);
    expect(engine.lastRun).toMatchObject({
      fallback: engine.selfTest?.failed,
      tuning: { fieldProduct: 'unsigned', walkerPrefixMemory: 'private' },
    });
    // what is known of a device, every engine on it knows
    compiled.length = 0;
    const next = await engineOn(device, { fieldProduct: 'fma', walkerPrefixMemory: 'workgroup' });
    await next.warmup(40);
    expect(next.selfTest).toMatchObject({ product: 'unsigned', failed: engine.selfTest?.failed });
    engine.destroy();
    next.destroy();
  });

  const movesBases = async (_: string, retainBases: boolean): Promise<void> => {
    const { device } = await miscompiling(['fma'], /walk/);
    const engine = await engineOn(device, { fieldProduct: 'fma' }, { ...onSmallCurve, retainBases });
    const bases = await engine.loadBases(small.points);
    expect(await engine.msm(bases, small.scalars)).toEqual(small.expected);
    expect(engine.lastRun).toMatchObject({ fallback: expect.stringContaining('fma'), retried: null });
    expect(await engine.msm(bases, small.scalars)).toEqual(small.expected);
    bases.destroy();
    expect(engine.memory.bases).toBe(0);
    engine.destroy();
  };
  const title = 'in the walk alone, bases %s: they move with the products';
  const kinds = [
    ['retained', true],
    ['not retained', false],
  ] as const;
  test.each(kinds)(title, { tags: 'long' }, movesBases);

  test('two first calls at once agree on the other product', { tags: 'long' }, async () => {
    const { device } = await miscompiling(['fma'], /walk/);
    const engine = await engineOn(device, { fieldProduct: 'fma' }, { ...onSmallCurve, sharing: { merge: false } });
    const bases = await engine.loadBases(small.points);
    const calls = [1, 2].map(() => engine.msm(bases, small.scalars));
    for (const sum of await Promise.all(calls)) expect(sum).toEqual(small.expected);
    expect(engine.selfTest).toMatchObject({ product: 'unsigned', failed: expect.stringContaining('fma') });
    engine.destroy();
  });

  test('finds the constant in tables alone', { tags: 'long' }, async () => {
    const { device } = await miscompiling(['fma'], /tables/);
    const engine = await engineOn(device, { fieldProduct: 'fma' }, onSmallCurve);
    const plain = await engine.loadBases(small.points);
    expect(await engine.msm(plain, small.scalars)).toEqual(small.expected);
    expect(engine.selfTest?.failed).toBe(null);
    const tabled = await engine.loadBases(small.points, { precompute: 2 });
    expect(await engine.msm(tabled, small.scalars)).toEqual(small.expected);
    expect(engine.selfTest).toMatchObject({ product: 'unsigned', failed: expect.stringContaining('fma') });
    expect(await engine.msm(plain, small.scalars)).toEqual(small.expected);
    engine.destroy();
  });

  test('rejects the call, with the reason, if both products are wrong', { tags: 'long' }, async () => {
    const { device } = await miscompiling(['fma', 'unsigned'], /walk/);
    const engine = await engineOn(device, { fieldProduct: 'fma' }, onSmallCurve);
    const bases = await engine.loadBases(small.points);
    for (let i = 0; i < 2; i++) {
      await expect(engine.msm(bases, small.scalars)).rejects.toMatchObject({
        code: 'internal',
        message: expect.stringMatching(/fma products: .*; /),
      });
      expect(engine.selfTest?.product).toBe(null);
      expect(engine.lastRun).toBe(null);
    }
    engine.destroy();
  });

  test('rejects the call where unsigned products are wrong, as there are no simpler ones', {
    tags: 'long',
  }, async () => {
    const { device } = await miscompiling(['unsigned'], /walk/);
    for (const walkerPrefixMemory of ['private', 'workgroup'] as const) {
      const engine = await engineOn(device, { fieldProduct: 'unsigned', walkerPrefixMemory }, onSmallCurve);
      const bases = await engine.loadBases(small.points);
      await expect(engine.msm(bases, small.scalars)).rejects.toMatchObject({
        code: 'internal',
        message: expect.stringContaining('the self-test failed on this device'),
      });
      expect(engine.selfTest?.product).toBe(null);
      engine.destroy();
    }
  });
});

describe('the self-test of products by floats', { tags: 'long' }, () => {
  const call = /\bfma\((\w+), ([\w.]+), ([\w.]+)\)/g;
  const msmOn = async (change: (code: string) => string): Promise<MsmEngine> => {
    const { device } = await changing('another fma', change);
    const engine = await engineOn(device, { fieldProduct: 'fma' });
    await engine.warmup(40);
    const bases = await engine.loadBases(known.bytes);
    expect(await engine.msm(bases, known.logs)).toEqual(expected);
    return engine;
  };

  test('passes without fma', async () => {
    let calls = 0;
    const engine = await msmOn((code) =>
      code.replace(call, (_, a, b, c) => {
        calls++;
        return `(${a} * ${b} + ${c})`;
      }),
    );
    expect(calls).toBeGreaterThan(400);
    expect(engine.selfTest).toMatchObject({ product: 'fma', failed: null });
    expect(engine.lastRun).toMatchObject({ fallback: null, tuning: { fieldProduct: 'fma' } });
    // an addition takes six products
    const { points, scalars } = knownAnswer(withProduct(await openCurve('bn254', 'g1'), 'fma'));
    await engine.msm(await engine.loadBases(points), scalars);
    expect(6 * (engine.lastRun?.entries ?? 0)).toBeGreaterThan(2 ** 12);
    engine.destroy();
  });

  test.each([
    ['drops five bits of an operand', (a: string) => `bitcast<f32>(bitcast<u32>(${a}) & 0xffffffe0u)`],
    ['is eight units off', (a: string) => `(${a} + 0.0000005 * ${a})`],
  ])('replaces them where fma %s', async (_, worse) => {
    const engine = await msmOn((code) => code.replace(call, (_, a, b, c) => `fma(${worse(a)}, ${b}, ${c})`));
    expect(engine.selfTest).toMatchObject({ product: 'unsigned', failed: expect.stringContaining('fma') });
    expect(engine.lastRun).toMatchObject({
      fallback: engine.selfTest?.failed,
      tuning: { fieldProduct: 'unsigned' },
    });
    engine.destroy();
  });
});
