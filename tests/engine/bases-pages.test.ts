/**
 * Bases beyond one buffer of the device: each page of them is in a buffer of its own, and a sum is
 * that over one buffer, whatever its range, its scalars, its tables and its backend.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { bn254G1, expectedMsm, makeKnownBases, makeRandomScalars } from '../../dev/oracle/known-bases.js';
import { createFieldEngine } from '../../src/fields.js';
import { openProvingKey } from '../../src/groth16.js';
import {
  type Bases,
  createMsmEngine,
  type GpuRun,
  type MsmEngine,
  type MsmEngineOptions,
  type Progress,
} from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
import { leaseDevice, leaseGpu } from '../support/leased-gpu.js';
import { endCurves, makeStatement } from '../support/proving.js';
import { sleep } from '../support/time.js';

const PAGE = 2 ** 10;
const COUNT = 3 * PAGE + 1;

/** Limits of a device whose buffers hold no more than `maxBufferSize` bytes. */
const limitsOf = async (maxBufferSize: number): Promise<GPUSupportedLimits> =>
  new Proxy((await getDevice()).limits, {
    get: (target, name) => (name === 'maxBufferSize' ? maxBufferSize : Reflect.get(target, name, target)),
  });

const deviceOf = async (maxBufferSize: number): Promise<GPUDevice> =>
  (await leaseDevice({ limits: await limitsOf(maxBufferSize) })).device;

const open = async (options: Partial<MsmEngineOptions> = {}, bytes = 64 * PAGE): Promise<MsmEngine> =>
  createMsmEngine({
    ...{ curve: 'bn254', device: await deviceOf(bytes), backend: 'gpu' },
    ...options,
    tuning: { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, ...options.tuning },
  });

const known = makeKnownBases(bn254G1, COUNT, 51);
/** A few have their full length, for which additions take most of the time. */
const scalars = makeRandomScalars(bn254G1, COUNT, 52).map((value, i) => (i % 16 === 5 ? value : value % 2n ** 40n));
const sumOf = (from: number, to: number, values = scalars) =>
  expectedMsm(bn254G1, known.logs.slice(from, to), values.slice(0, to - from));

/** Ranges that begin and end around every border of pages. */
const ranges = [
  [0, 1],
  [0, PAGE],
  [PAGE - 1, PAGE],
  [PAGE, 2 * PAGE],
  [PAGE + 7, 3 * PAGE - 3],
  [3 * PAGE, COUNT],
] as const;

/** Expects right sums over all bases, over two at a border, and over more ranges. */
const expectRight = async (
  engine: MsmEngine,
  bases: Bases,
  more: readonly (readonly [from: number, to: number])[] = [],
): Promise<void> => {
  for (const [from, to] of [...more, [PAGE - 1, PAGE + 1], [0, COUNT]] as const) {
    const sum = await engine.msm(bases, scalars.slice(0, to - from), { offset: from });
    expect(sum, `[${from}, ${to})`).toEqual(sumOf(from, to));
  }
};

describe('bases over several buffers', () => {
  test('give right sums over every range', async () => {
    const engine = await open();
    await expectRight(engine, await engine.loadBases(known.bytes), ranges);
    engine.destroy();
  });

  const areCounted = async (options: Partial<MsmEngineOptions>): Promise<void> => {
    const engine = await open(options);
    const progress: Progress[] = [];
    const bases = await engine.loadBases(known.bytes, { onProgress: (each) => progress.push(each) });
    expect(progress.at(0)).toEqual({ phase: 'load', done: 0, total: COUNT });
    expect(progress.at(-1)).toEqual({ phase: 'load', done: COUNT, total: COUNT });
    expect(progress.map(({ done }) => done)).toEqual(progress.map(({ done }) => done).sort((a, b) => a - b));
    expect(bases.byteLength).toBe(64 * COUNT);
    expect(engine.memory.bases).toBe(64 * COUNT);
    await expectRight(engine, bases);
    const isVerified = 'verify' in options;
    expect(engine.lastRun).toMatchObject({ on: 'gpu', n: COUNT, vectors: 1, verified: isVerified });
    bases.destroy();
    expect(engine.memory.bases).toBe(0);
    engine.destroy();
  };
  test('are counted and freed', () => areCounted({}));
  test.each([{ retainBases: false }, { verify: true }])('are counted and freed with %o', { tags: 'long' }, areCounted);

  test('are divided where they exceed a buffer, and plans count all of them', async () => {
    const engine = await open();
    for (const count of [PAGE - 1, PAGE, PAGE + 1]) {
      const bases = await engine.loadBases(known.bytes.slice(0, 64 * count));
      expect(await engine.msm(bases, scalars.slice(0, count))).toEqual(sumOf(0, count));
      const run = engine.lastRun as GpuRun;
      expect(run.hostTimes === null).toBe(count > PAGE);
      expect((await engine.plan(bases, count)).submits).toBe(run.submits);
      bases.destroy();
    }
    engine.destroy();
  });

  test('with tables, whose pages have fewer points', async () => {
    const engine = await open();
    const bases = await engine.loadBases(known.bytes, { precompute: 3 });
    expect(bases.byteLength).toBe(3 * 64 * COUNT);
    await expectRight(engine, bases);
    engine.destroy();
  });

  test('in batches of vectors with offsets, some of zeros, and with loaded scalars', async () => {
    const engine = await open();
    const bases = await engine.loadBases(known.bytes);
    const zeros = new Array<bigint>(COUNT).fill(0n);
    const offsets = [0, PAGE - 1, 2 * PAGE + 1, 0, PAGE];
    const vectors = [scalars, scalars.slice(0, 2), scalars.slice(0, PAGE), zeros, []];
    const expected = vectors.map((each, i) => {
      const from = offsets[i] as number;
      return sumOf(from, from + each.length, each);
    });
    expect(await engine.msmBatch(bases, vectors, { offsets })).toEqual(expected);
    // only one page has a scalar but 0
    const alone = zeros.with(2 * PAGE + 5, 7n);
    expect(await engine.msm(bases, alone)).toEqual(sumOf(0, COUNT, alone));
    expect(engine.lastRun).toMatchObject({ n: COUNT });
    expect(await engine.msm(bases, zeros)).toEqual(sumOf(0, COUNT, zeros));
    const atEnd = await engine.msm(bases, [0n, 0n], { offset: 3 * PAGE - 1 });
    expect(atEnd.infinity).toBe(true);
    const loaded = await engine.loadScalars(scalars);
    expect(await engine.msm(bases, loaded)).toEqual(sumOf(0, COUNT));
    const part = loaded.subarray(3, PAGE + 9);
    const [from, to] = [PAGE - 2, 2 * PAGE + 4];
    expect(await engine.msm(bases, part, { offset: from })).toEqual(sumOf(from, to, scalars.slice(3)));
    engine.destroy();
  });

  test('by vectors of a field engine on the same device', async () => {
    const engine = await open();
    const bases = await engine.loadBases(known.bytes);
    const fr = await createFieldEngine({ deviceOf: engine });
    const [from, to] = [PAGE - 50, 2 * PAGE + 50];
    const vector = await fr.load(scalars.slice(0, to - from));
    expect(await engine.msm(bases, vector, { offset: from })).toEqual(sumOf(from, to));
    fr.destroy();
    engine.destroy();
  });

  test.each(['auto', 'both'] as const)('on the CPU and on both, with backend %s', async (backend) => {
    const engine = await open({ backend, tuning: { cpuBelow: 16 } });
    const bases = await engine.loadBases(known.bytes);
    expect(bases.byteLength).toBe(64 * COUNT);
    await expectRight(engine, bases);
    const half = scalars.map((each, i) => (i < COUNT / 2 ? 0n : each));
    for (const values of [half, half.toReversed(), half.fill(0n)]) {
      expect(await engine.msm(bases, values)).toEqual(sumOf(0, COUNT, values));
    }
    engine.destroy();
  });

  test('errors name the point among all of them, and nothing stays on the device', async () => {
    const engine = await open();
    for (const index of [0, PAGE - 1, PAGE, 2 * PAGE + 3, COUNT - 1]) {
      const wrong = known.bytes.slice();
      wrong[64 * index + 40] = (wrong[64 * index + 40] as number) ^ 1;
      await expect(engine.loadBases(wrong)).rejects.toMatchObject({
        code: 'not-on-curve',
        message: expect.stringMatching(new RegExp(`^points\\[${index}\\] `)),
      });
      expect(engine.memory.bases).toBe(0);
    }
    engine.destroy();
  });

  test('an abort between two pages ends a load and a sum, and the next call is right', async () => {
    const engine = await open();
    const at = (done: number, controller: AbortController) => (progress: Progress) => {
      if (progress.done >= done) controller.abort();
    };
    const ofLoad = new AbortController();
    const load = engine.loadBases(known.bytes, { signal: ofLoad.signal, onProgress: at(PAGE, ofLoad) });
    await expect(load).rejects.toMatchObject({ code: 'aborted' });
    expect(engine.memory.bases).toBe(0);
    const bases = await engine.loadBases(known.bytes);
    const ofSum = new AbortController();
    const done: number[] = [];
    await engine.msm(bases, scalars.slice(0, PAGE).concat(new Array(PAGE + 1).fill(0n)), {
      onProgress: (each) => done.push(each.done),
    });
    expect(done.at(-1)).toBe(2 * PAGE + 1);
    const sum = engine.msm(bases, scalars, { signal: ofSum.signal, onProgress: at(2 * PAGE, ofSum) });
    await expect(sum).rejects.toMatchObject({ code: 'aborted' });
    expect(await engine.msm(bases, scalars)).toEqual(sumOf(0, COUNT));
    engine.destroy();
  });

  test('come to the next device after a loss, unless there is no copy', async () => {
    for (const retainBases of [true, false]) {
      const gpu = await leaseGpu(undefined, undefined, { limits: await limitsOf(64 * PAGE) });
      const engine = await open({ device: undefined, gpu: gpu.gpu, selfTest: false, retainBases });
      const bases = await engine.loadBases(known.bytes);
      if (retainBases) await expectRight(engine, bases);
      gpu.devices.at(-1)?.takeAway('at once');
      await sleep();
      if (retainBases) await expectRight(engine, bases);
      else await expect(engine.msm(bases, scalars)).rejects.toMatchObject({ code: 'device-lost' });
      expect(gpu.devices).toHaveLength(2);
      engine.destroy();
    }
  });

  test('bases that were destroyed are refused', async () => {
    const engine = await open();
    const bases = await engine.loadBases(known.bytes);
    bases.destroy();
    await expect(engine.msm(bases, scalars)).rejects.toMatchObject({ code: 'destroyed' });
    engine.destroy();
  });
});

describe('bases beyond the memory of the device', () => {
  test('are kept by the CPU where it may compute', async () => {
    const engine = await open({ backend: 'auto', deviceBudget: 64 * 2 * PAGE, tuning: { cpuBelow: 16 } });
    const bases = await engine.loadBases(known.bytes, { precompute: 2 });
    expect([bases.byteLength, engine.memory.bases]).toEqual([0, 0]);
    expect(await engine.plan(bases, COUNT)).toMatchObject({ bytes: 0, submits: 0, predicted: null });
    await expectRight(engine, bases);
    expect(engine.lastRun?.on).toBe('cpu');
    engine.destroy();
  });

  test('are refused where the GPU alone computes, and nothing stays there', async () => {
    // room for the scratch of a sum, and not for so many bases
    const engine = await open({ deviceBudget: 64 * 8 * PAGE });
    const many = Buffer.concat([known.bytes, known.bytes, known.bytes]);
    await expect(engine.loadBases(new Uint8Array(many))).rejects.toMatchObject({ code: 'out-of-memory' });
    expect(engine.memory.bases).toBe(0);
    const bases = await engine.loadBases(known.bytes.slice(0, 64 * 8));
    expect(await engine.msm(bases, scalars.slice(0, 8))).toEqual(sumOf(0, 8));
    engine.destroy();
  });
});

test('a key with sections beyond one buffer proves', async () => {
  const { zkey, circuit, verify } = await makeStatement('groth16', 'bn254', 7, 'dense');
  const sectionBytes = 128 * 128;
  using key = await openProvingKey(zkey.data, {
    device: await deviceOf(sectionBytes / 2),
    tuning: { cpuBelow: 2 ** 16 },
  });
  expect(await verify(await key.prove(circuit.witness))).toBe(true);
});

afterAll(endCurves);
