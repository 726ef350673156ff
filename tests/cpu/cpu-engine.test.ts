/** Engines without a GPU: the same calls, answers and refusals. */
import { describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { everyEncoding, everyGroup, everyPoints, everyScalars, pairwiseCases } from '../../dev/cases/select.js';
import { type CurveGroup, oracleOf } from '../../dev/oracle/curves.js';
import { pointsIn, scalarsIn } from '../../dev/oracle/encodings.js';
import {
  bn254G1,
  encodePoints,
  expectedMsm,
  makeKnownBases,
  type OracleCurve,
  toAffinePoint,
} from '../../dev/oracle/known-bases.js';
import { bn254 as bn254Curve } from '../../src/curves/bn254.js';
import { cubic, curveContext } from '../../src/curves/curve.js';
import { bls12381 } from '../../src/curves/pairing-friendly.js';
import { squareRoot } from '../../src/field/powers.js';
import { type Coordinate, createMsmEngine, type MsmEngine, MsmError, type Tuning } from '../../src/index.js';
import { inWasm } from '../support/arithmetic.js';
import { keptEngine } from '../support/engines.js';
import { getDevice } from '../support/gpu.js';
import { leaseDevice } from '../support/leased-gpu.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { sleep } from '../support/time.js';

const backend = 'cpu';
const engineOf = (of: CurveGroup): Promise<MsmEngine<Coordinate>> => keptEngine(of, { backend });
const bn254 = { curve: 'bn254', group: 'g1' } as const;

describe('the choice of a backend', () => {
  // vitest runs in Node, where there is no navigator.gpu
  test('without WebGPU the CPU computes, and `gpu` is an error', async () => {
    const engine = await createMsmEngine({ curve: 'bn254' });
    expect(engine.backends).toEqual(['cpu']);
    expect(engine.adapter).toMatchObject({ vendor: 'cpu', software: true });
    const bases = await engine.loadBases([{ x: 1n, y: 2n, infinity: false }]);
    expect(await engine.msm(bases, [3n])).toEqual(toAffinePoint(oracleOf(bn254).Point.BASE.multiply(3n)));
    expect(engine.lastRun).toMatchObject({ on: 'cpu', arithmetic: inWasm, n: 1, verified: true });
    await expect(createMsmEngine({ curve: 'bn254', backend: 'gpu' })).rejects.toMatchObject({ code: 'no-webgpu' });
  });

  test('the CPU computes also where WebGPU has no adapter or no device', async () => {
    const noAdapter = { requestAdapter: async () => null } as unknown as GPU;
    const noDevice = {
      requestAdapter: async () => ({
        limits: {},
        features: new Set(),
        requestDevice: () => Promise.reject(new Error('none')),
      }),
    } as unknown as GPU;
    for (const [gpu, code] of [
      [noAdapter, 'no-webgpu'],
      [noDevice, 'unsupported-device'],
    ] as const) {
      expect((await createMsmEngine({ curve: 'bn254', gpu })).backends).toEqual(['cpu']);
      await expect(createMsmEngine({ curve: 'bn254', gpu, backend: 'gpu' })).rejects.toMatchObject({ code });
    }
  });

  test('with a device the GPU computes, and small MSMs run on the CPU', async () => {
    const { device } = await leaseDevice({ adapterInfo: { vendor: 'a GPU' } as GPUAdapterInfo });
    const { points, scalars, expected } = smallCase(3);
    for (const [wanted, backends, on] of [
      ['auto', ['gpu', 'cpu'], 'cpu'],
      ['gpu', ['gpu'], 'gpu'],
      ['cpu', ['cpu'], 'cpu'],
      ['both', ['gpu', 'cpu'], 'cpu'],
    ] as const) {
      const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
      const engine = await createMsmEngine({ curve: smallCurve, device, backend: wanted, tuning });
      expect(engine.backends).toEqual(backends);
      const bases = await engine.loadBases(points);
      expect(await engine.msm(bases, scalars)).toEqual(expected);
      expect(engine.lastRun).toMatchObject(on === 'gpu' ? { on } : { on, arithmetic: inWasm });
      engine.destroy();
    }
    for (const wrong of ['all', '', 1, null]) {
      const options = { curve: 'bn254', backend: wrong } as never;
      await expect(createMsmEngine(options)).rejects.toMatchObject({ code: 'bad-argument' });
    }
  });
});

describe('tuning.cpuArithmetic', () => {
  const { points, scalars, expected } = makeCase({ points: 'few-with-signs', scalars: 'random', n: 300, seed: 4 });
  const engineWith = (cpuArithmetic: Tuning['cpuArithmetic']) =>
    createMsmEngine({ curve: 'bn254', backend, maxWorkers: 0, tuning: { cpuArithmetic } });

  test.each(['wasm-simd', 'wasm', 'bigint'] as const)('%s computes, and its record has the name', async (name) => {
    const engine = await engineWith(name);
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    expect(engine.lastRun).toMatchObject({ arithmetic: name, noWorkers: null });
    engine.destroy();
  });

  test('one that the platform does not have is refused by name', async () => {
    // no version of Node has it yet
    const engine = await engineWith('wasm-wide');
    const bases = await engine.loadBases(points.bytes);
    await expect(engine.msm(bases, scalars.bytes)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining("tuning.cpuArithmetic is 'wasm-wide'"),
    });
    await expect(engineWith('native' as never)).rejects.toMatchObject({ code: 'bad-argument' });
    engine.destroy();
  });
});

describe('sums of CPU engines', () => {
  const FEW = 257;
  const pairs = pairwiseCases({ ...bn254, encoding: 'le' }, 4).filter(({ n }) => n <= 4097);
  const areRight = async (cases: typeof pairs): Promise<void> => {
    const engine = await engineOf(bn254);
    for (const address of cases) {
      const { points, scalars, expected } = makeCase(address);
      const bases = await engine.loadBases(points.bytes);
      expect(await engine.msm(bases, scalars.bytes), JSON.stringify(address)).toEqual(expected);
      bases.destroy();
    }
  };
  test(`every pair of points and scalars with n up to ${FEW} is right`, () =>
    areRight(pairs.filter(({ n }) => n <= FEW)));
  test('every pair of points, scalars and larger n up to 4,097 is right', { tags: 'long' }, async () => {
    expect(pairs.length).toBeGreaterThan(everyPoints.length * everyScalars.length * 0.5);
    await areRight(pairs.filter(({ n }) => n > FEW));
  });

  const inEncoding = async (address: ReturnType<typeof everyEncoding>[number]): Promise<void> => {
    const engine = await engineOf(address);
    const oracle = oracleOf(address);
    const { encoding } = address;
    const { points, scalars, expected } = makeCase({ ...address, n: 24 });
    const bytes = pointsIn(oracle as OracleCurve, points.points as never, encoding);
    const bases = await engine.loadBases(bytes, { encoding, checkSubgroup: true });
    const scalarBytes = scalarsIn(oracle as OracleCurve, scalars.values, 'be');
    expect(await engine.msm(bases, scalarBytes, { scalarEncoding: 'be' })).toEqual(expected);
    if (encoding === 'aztec-compressed') return;
    const written = await engine.msm(bases, scalars.bytes, { result: encoding });
    expect(written).toEqual(pointsIn(oracle as OracleCurve, [expected as never], encoding));
  };
  const all = everyEncoding(3).map((of) => [`${of.curve} ${of.group}, ${of.encoding}`, of] as const);
  test.each(all.filter(([, { curve }]) => curve === 'bn254' || curve === 'jubjub'))('%s', (_, of) => inEncoding(of));
  test.each(all.filter(([, { curve }]) => curve !== 'bn254' && curve !== 'jubjub'))('%s', { tags: 'long' }, (_, of) =>
    inEncoding(of),
  );

  test('batches, offsets, repeated and concurrent calls, and verification are right', async () => {
    const engine = await engineOf(bn254);
    const { points, scalars, expected } = makeCase({ points: 'few-with-signs', scalars: 'unreduced', n: 90, seed: 2 });
    const bases = await engine.loadBases(points.bytes, { precompute: 3, label: 'few' });
    expect([bases.length, bases.byteLength]).toEqual([90, 0]);
    const sums = Array.from({ length: 6 }, () => engine.msm(bases, scalars.bytes, { verify: true }));
    expect(await Promise.all(sums)).toEqual(sums.map(() => expected));
    const { Point } = oracleOf(bn254);
    const batch = await engine.msmBatch(bases, [[], [5n], [0n, 0n], scalars.bytes], { offsets: [90, 4, 1, 0] });
    const one = points.points[4];
    const fifth = one?.infinity ? Point.ZERO : Point.fromAffine(one as never).multiply(5n);
    expect(batch).toEqual([toAffinePoint(Point.ZERO), toAffinePoint(fifth), toAffinePoint(Point.ZERO), expected]);
    expect(engine.lastRun).toMatchObject({ vectors: 4, n: 93 });
    expect(engine.memory).toEqual({ bases: 0, scalars: 0, scratch: 0, peak: 0 });
  });

  // the short scalars have windows of their own
  test.each([1, 2, 5])('of mostly short scalars and few long ones are right: one in %i is not zero', async (oneOf) => {
    const { order } = bn254Curve;
    const n = 300;
    const known = makeKnownBases(bn254G1, n, 61);
    const longs = [order - 1n, order - 2n, order, 2n ** 16n, 2n ** 253n, 2n ** 256n - 1n, order / 2n, order / 2n + 1n];
    const scalars = Array.from({ length: n }, (_, i) => BigInt(i % oneOf === 0 ? 1 + (i % 7) : 0));
    for (const [k, long] of longs.entries()) scalars[(k * 37) % n] = long;
    const engine = await engineOf(bn254);
    const bases = await engine.loadBases(known.bytes);
    expect(await engine.msm(bases, scalars)).toEqual(expectedMsm(bn254G1, known.logs, scalars));
    for (const offset of [1, 40]) {
      const rest = scalars.slice(offset);
      const expected = expectedMsm(bn254G1, known.logs.slice(offset), rest);
      expect(await engine.msm(bases, rest, { offset })).toEqual(expected);
    }
    bases.destroy();
  });

  test('sums in every group, with the subgroup checked, are right', { tags: 'long' }, async () => {
    for (const of of everyGroup) {
      const engine = await engineOf(of);
      const { points, scalars, expected } = makeCase({ ...of, points: 'distinct', scalars: 'random', n: 150, seed: 4 });
      const bases = await engine.loadBases(points.bytes, { checkSubgroup: true });
      expect(await engine.msm(bases, scalars.bytes), JSON.stringify(of)).toEqual(expected);
    }
  });
});

describe('a CPU engine rejects the same arguments as a GPU engine', () => {
  const known = makeCase({ points: 'distinct', scalars: 'random', n: 40, seed: 7 });
  const changed = (at: number, change: (bytes: Uint8Array) => void): Uint8Array => {
    const bytes = known.points.bytes.slice();
    change(bytes.subarray(64 * at, 64 * at + 64));
    return bytes;
  };
  test.each([
    ['a point off the curve', changed(7, (point) => point.set([point[0]! ^ 1]))],
    ['a coordinate that is too large', changed(39, (point) => point.fill(0xff, 0, 32))],
    ['a y that is too large, and later a point off the curve', changed(3, (point) => point.fill(0xff, 32))],
    ['big-endian bytes', pointsIn(oracleOf(bn254) as OracleCurve, known.points.points as never, 'be')],
    ['Montgomery form', pointsIn(oracleOf(bn254) as OracleCurve, known.points.points as never, 'le-montgomery')],
    ['a wrong length', known.points.bytes.slice(1)],
  ])('%s', async (_, bytes) => {
    const device = await getDevice();
    const refused = async (engine: MsmEngine): Promise<MsmError> => {
      const error = await engine.loadBases(bytes).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(MsmError);
      return error as MsmError;
    };
    const onGpu = await createMsmEngine({ curve: 'bn254', device });
    const [gpu, cpu] = [await refused(onGpu), await refused(await createMsmEngine({ curve: 'bn254', backend }))];
    expect({ code: cpu.code, message: cpu.message }).toEqual({ code: gpu.code, message: gpu.message });
    onGpu.destroy();
  });

  test('a point outside the group is rejected by its index', async () => {
    const engine = await engineOf({ curve: 'bls12-381', group: 'g1' });
    const context = curveContext(bls12381);
    let x = 1n;
    let y: bigint | null = null;
    // hardly any point of the curve is in the group
    while (y === null) y = squareRoot((cubic(context, ++x) as bigint) % bls12381.p, bls12381.p);
    const oracle = oracleOf({ curve: 'bls12-381', group: 'g1' });
    const points = [
      ...Array.from({ length: 5 }, () => oracle.Point.BASE).map((P) => toAffinePoint(P)),
      { x, y, infinity: false },
    ];
    const bytes = encodePoints(oracle, points as never);
    await engine.loadBases(bytes);
    await expect(engine.loadBases(bytes, { checkSubgroup: true })).rejects.toMatchObject({
      code: 'not-in-subgroup',
      message: 'points[5] is on bls12-381, but not in its group of order r',
    });
  });

  test('compressed points without a y are rejected', async () => {
    const engine = await engineOf(bn254);
    const bytes = pointsIn(oracleOf(bn254) as OracleCurve, known.points.points as never, 'ark-compressed');
    // x = 4 has none: 4³ + 3 = 67 is no square
    bytes.fill(0, 32 * 8, 32 * 9);
    bytes[32 * 8] = 4;
    await expect(engine.loadBases(bytes, { encoding: 'ark-compressed' })).rejects.toMatchObject({
      code: 'not-on-curve',
      message: 'points[8] is not on bn254',
    });
  });

  test('an abort, destroyed bases and a destroyed engine reject', async () => {
    const engine = await createMsmEngine({ curve: 'bn254', backend });
    const large = makeCase({ points: 'distinct', scalars: 'random', n: 20_000, seed: 9 });
    const bases = await engine.loadBases(large.points.bytes);
    const controller = new AbortController();
    const aborted = engine.msm(bases, large.scalars.bytes, { signal: controller.signal });
    void sleep(30).then(() => controller.abort());
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
    expect(await engine.msm(bases, large.scalars.bytes)).toEqual(large.expected);
    const pending = engine.msm(bases, large.scalars.bytes);
    bases.destroy();
    await expect(pending).rejects.toMatchObject({ code: 'destroyed' });
    await expect(engine.msm(bases, [1n])).rejects.toMatchObject({ code: 'destroyed' });
    const other = await (await createMsmEngine({ curve: 'bn254', backend })).loadBases(large.points.bytes.slice(0, 64));
    await expect(engine.msm(other, [1n])).rejects.toMatchObject({ code: 'bad-argument' });
    await engine.warmup(5);
    await expect(engine.warmup(0)).rejects.toMatchObject({ code: 'bad-argument' });
    engine.destroy();
    await expect(engine.loadBases(large.points.bytes)).rejects.toMatchObject({ code: 'destroyed' });
  });
});
