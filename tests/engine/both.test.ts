/**
 * Calls that the GPU and the CPU compute at the same time, and engines that choose the backend of a
 * call.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { engineIn, type MsmCase, makeCase, redrawn } from '../../dev/cases/msm-case.js';
import { pairwiseCases } from '../../dev/cases/select.js';
import { type CurveGroup, oracleOf } from '../../dev/oracle/curves.js';
import { pointsIn } from '../../dev/oracle/encodings.js';
import { expectedMsm, type OracleCurve } from '../../dev/oracle/known-bases.js';
import {
  type Bases,
  type Coordinate,
  createMsmEngine,
  type MsmEngine,
  type MsmEngineOptions,
  type Prediction,
  type RunRecord,
} from '../../src/index.js';
import { inWasm } from '../support/arithmetic.js';
import { getDevice } from '../support/gpu.js';
import { leaseDevice } from '../support/leased-gpu.js';
import { dividedRunOf } from '../support/runs.js';
import { hastenClock, sleep } from '../support/time.js';

/** Knobs with which the kernels compile fast. */
const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 } as const;
const bn254 = { curve: 'bn254', group: 'g1' } as const;

const open = async (options: Partial<MsmEngineOptions> = {}, of: CurveGroup = bn254): Promise<MsmEngine<Coordinate>> =>
  engineIn(createMsmEngine, of, { device: await getDevice(), tuning, selfTest: false, backend: 'both', ...options });

/** Loads the points of a case and multiplies them. */
const compute = async (engine: MsmEngine<Coordinate>, { points, scalars, address }: MsmCase): Promise<unknown> => {
  const bases = await engine.loadBases(points.bytes);
  try {
    return await engine.msm(bases, scalars.bytes);
  } catch (error) {
    throw new Error(JSON.stringify(address), { cause: error });
  } finally {
    bases.destroy();
  }
};

describe('backend: both', () => {
  let engine: MsmEngine<Coordinate>;
  const n = 6000;
  let large: MsmCase<bigint>;
  let bases: Bases;
  beforeAll(async () => {
    engine = await open({ maxWorkers: 0 });
    large = makeCase({ points: 'distinct', scalars: 'random', n, seed: 3 });
    bases = await engine.loadBases(large.points.bytes);
    // also compiles
    expect(await engine.msm(bases, large.scalars.bytes)).toEqual(large.expected);
  });
  afterAll(() => engine.destroy());

  /**
   * Opens an engine that has measured nothing, which has the GPU draw a part. After a run on a busy
   * machine the GPU may be expected to be too slow for one.
   */
  const openUnmeasured = async () => {
    const fresh = await open({ maxWorkers: 0 });
    onTestFinished(() => fresh.destroy());
    return { fresh, loaded: await fresh.loadBases(large.points.bytes) };
  };

  test('loaded scalars are divided as others are', async () => {
    const { fresh, loaded } = await openUnmeasured();
    const scalars = await fresh.loadScalars(large.scalars.bytes);
    expect(await fresh.msm(loaded, scalars)).toEqual(large.expected);
    expect(fresh.lastRun).toMatchObject({ on: 'both', n });
    expect(await fresh.msm(loaded, scalars)).toEqual(large.expected);
  });

  test('each backend computes a part, progress never decreases, and the record names the parts', async () => {
    for (let draw = 1; draw <= 3; draw++) {
      const { scalars, expected } = redrawn(large, draw);
      const done: number[] = [];
      const onProgress = (progress: { readonly done: number; readonly total: number }) => {
        done.push(progress.done);
        expect(progress.total).toBe(n);
      };
      const { fresh, loaded } = await openUnmeasured();
      expect(await fresh.msm(loaded, scalars.bytes, { onProgress })).toEqual(expected);
      const { gpuShare, predicted, gpu, cpu, ...whole } = dividedRunOf(fresh);
      expect(whole).toMatchObject({ n, vectors: 1 });
      expect(gpuShare).toBeGreaterThan(0);
      expect(gpuShare).toBeLessThan(1);
      expect([gpu.n / n, gpu.n + cpu.n]).toEqual([gpuShare, n]);
      expect(gpu.submits).toBeGreaterThan(0);
      expect(gpu.hostTimes).toBeNull();
      expect(cpu.arithmetic).toEqual(inWasm);
      expect(predicted?.bothMs).toBeGreaterThan(0);
      expect(done.toSorted((a, b) => a - b)).toEqual(done);
      expect([done[0], done.at(-1)]).toEqual([0, n]);
    }
  });

  test('all-zero scalars need no backend', async () => {
    expect(await engine.msm(bases, new Uint8Array(32 * n))).toMatchObject({ infinity: true });
    expect(engine.lastRun).toMatchObject({ on: 'cpu', n, entries: 0 });
  });

  test('few nonzero scalars among many zeros are right', async () => {
    const values = large.scalars.values.map((value, i) => (i % 1000 === 7 ? value : 0n));
    expect(await engine.msm(bases, values)).toEqual(expectedMsm(large.curve, large.points.logs, values));
  });

  test('batches of long, short and empty vectors with offsets are right', async () => {
    const { values } = large.scalars;
    const ranges = [
      [0, 2500],
      [5, 5],
      [2400, 5900],
      [100, 101],
      [0, n],
      ...Array.from({ length: 12 }, (_, i) => [400 * i, 400 * i + 13 * i]),
    ] as const satisfies readonly (readonly number[])[];
    const vectors = ranges.map(([from, to]) => values.slice(0, (to as number) - (from as number)));
    const offsets = ranges.map(([from]) => from as number);
    const expected = ranges.map(([from, to], i) =>
      expectedMsm(large.curve, large.points.logs.slice(from, to), vectors[i] as bigint[]),
    );
    const { fresh, loaded } = await openUnmeasured();
    expect(await fresh.msmBatch(loaded, vectors, { offsets })).toEqual(expected);
    expect(fresh.lastRun).toMatchObject({ on: 'both', vectors: ranges.length });
    expect(await engine.msmBatch(bases, vectors, { offsets })).toEqual(expected);
  });

  test('concurrent verified calls with encoded points are right', async () => {
    const calls = [1, 2, 3].map((draw) => redrawn(large, draw));
    const sums = await Promise.all(
      calls.map(({ scalars }) => engine.msm(bases, scalars.bytes, { verify: true, result: 'be' })),
    );
    expect(sums).toEqual(calls.map(({ expected }) => pointsIn(oracleOf(bn254) as OracleCurve, [expected], 'be')));
    expect(engine.lastRun?.verified).toBe(true);
  });

  test('an abort ends a call, destroyed bases are rejected, and the next call is right', async () => {
    const controller = new AbortController();
    const call = engine.msm(bases, large.scalars.bytes, { signal: controller.signal });
    void sleep(5).then(() => controller.abort());
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    const gone = await engine.loadBases(large.points.bytes.subarray(0, 64));
    gone.destroy();
    await expect(engine.msm(gone, [1n])).rejects.toMatchObject({ code: 'destroyed' });
    expect(await engine.msm(bases, large.scalars.bytes)).toEqual(large.expected);
  });

  test('destroying the engine ends a call that is under way', async () => {
    const other = await open();
    const loaded = await other.loadBases(large.points.bytes);
    const call = other.msm(loaded, large.scalars.bytes);
    void sleep(5).then(() => other.destroy());
    await expect(call).rejects.toMatchObject({ code: 'destroyed' });
  });

  test('calls with workers are right', async () => {
    const other = await open({ maxWorkers: 2 });
    const loaded = await other.loadBases(large.points.bytes);
    for (let draw = 1; draw <= 3; draw++) {
      const { scalars, expected } = redrawn(large, draw);
      expect(await other.msm(loaded, scalars.bytes)).toEqual(expected);
    }
    other.destroy();
  });

  test('bases that are only on the GPU are multiplied on the GPU', async () => {
    const other = await open({ retainBases: false });
    const loaded = await other.loadBases(large.points.bytes);
    expect(await other.msm(loaded, large.scalars.bytes)).toEqual(large.expected);
    expect(other.lastRun).toMatchObject({ on: 'gpu', n, predicted: null });
    other.destroy();
  });

  test('every pair of points, scalars and n up to 257 is right', async () => {
    const cases = pairwiseCases({ ...bn254, encoding: 'le' }, 5).filter(({ n }) => n <= 257);
    expect(cases.length).toBeGreaterThan(60);
    for (const address of cases) {
      const made = makeCase(address);
      expect(await compute(engine, made), JSON.stringify(address)).toEqual(made.expected);
    }
  });

  test('every pair of points, scalars and n up to 4,097, and some of 2^16, are right', { tags: 'long' }, async () => {
    const ofMany = ['random', 'one-bucket-and-noise', 'mostly-zero', 'all-equal', 'r-minus-one'];
    const cases = pairwiseCases({ ...bn254, encoding: 'le' }, 6).filter(
      ({ n, scalars }) => (n > 257 && n <= 4097) || (n === 2 ** 16 && ofMany.includes(scalars)),
    );
    expect(cases.filter(({ n }) => n === 2 ** 16)).toHaveLength(ofMany.length);
    for (const address of cases) {
      const made = makeCase(address);
      expect(await compute(engine, made), JSON.stringify(address)).toEqual(made.expected);
    }
  });

  test('divided sums over pairs, long fields, long orders and Edwards curves are right', { tags: 'long' }, async () => {
    for (const of of [
      { curve: 'bn254', group: 'g2' },
      { curve: 'bls12-381', group: 'g1' },
      { curve: 'p256', group: 'g1' },
      { curve: 'jubjub', group: 'g1' },
    ] as const) {
      const other = await open({ maxWorkers: 0, tuning: { ...tuning, fieldProduct: 'unsigned' } }, of);
      const made = makeCase({ ...of, points: 'distinct', scalars: 'random', n: 4000, seed: 4 });
      expect(await compute(other, made), JSON.stringify(of)).toEqual(made.expected);
      expect(other.lastRun?.on, JSON.stringify(of)).toBe('both');
      other.destroy();
    }
  });
});

describe('backend: auto', () => {
  /** The choice between the CPU and an adapter that says that it is a phone's GPU. */
  const onPhone = async () => {
    const { device } = await leaseDevice({ adapterInfo: { vendor: 'arm' } as GPUAdapterInfo });
    return { device, backend: 'auto' } as const;
  };

  test('predicts before every call, and learns the speed of a backend from its runs', async () => {
    const engine = await open({ ...(await onPhone()), maxWorkers: 0 });
    const made = makeCase({ points: 'distinct', scalars: 'random', n: 300, seed: 9 });
    const bases = await engine.loadBases(made.points.bytes);
    // everything takes longer than is thought, whatever the machine
    hastenClock(20);
    const predicted: Prediction[] = [];
    for (let draw = 0; draw < 8; draw++) {
      const { scalars, expected } = redrawn(made, draw);
      expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
      predicted.push((engine.lastRun as RunRecord).predicted as Prediction);
    }
    vi.restoreAllMocks();
    const [first, last] = [predicted[0] as Prediction, predicted.at(-1) as Prediction];
    // neither of the first two calls has changed anything; other scalars have a few digits more or
    // less
    for (const { cpuMs } of predicted.slice(1, 3)) expect(Math.abs(cpuMs / first.cpuMs - 1)).toBeLessThan(0.05);
    expect(last.cpuMs / first.cpuMs).toBeGreaterThan(3);
    engine.destroy();
  });

  test('without WebAssembly the CPU is expected to be many times slower', async () => {
    const made = makeCase({ points: 'distinct', scalars: 'random', n: 1500, seed: 5 });
    const forbidden = vi.spyOn(WebAssembly, 'Module').mockImplementation(() => {
      throw new WebAssembly.CompileError('refused by a policy');
    });
    const engine = await open(await onPhone());
    await engine.warmup(1500);
    expect(await compute(engine, made)).toEqual(made.expected);
    forbidden.mockRestore();
    const { on, predicted } = engine.lastRun as RunRecord;
    expect(on).toBe('gpu');
    expect((predicted as Prediction).cpuMs).toBeGreaterThan(3 * (predicted as Prediction).gpuMs);
    engine.destroy();
  });

  test('cpuBelow replaces the prediction', async () => {
    const made = makeCase({ points: 'distinct', scalars: 'random', n: 40, seed: 2 });
    for (const [cpuBelow, on] of [
      [39, 'gpu'],
      [40, 'cpu'],
      [0, 'gpu'],
    ] as const) {
      const engine = await open({ backend: 'auto', tuning: { ...tuning, cpuBelow } });
      expect(await compute(engine, made)).toEqual(made.expected);
      expect(engine.lastRun).toMatchObject({ on, predicted: null });
      engine.destroy();
    }
  });
});
