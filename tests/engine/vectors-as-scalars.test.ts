/**
 * Vectors of field engines as scalars of sums: the sums of their numbers, without a copy in main
 * memory where the GPU has them, and with one elsewhere.
 */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bn254G1, expectedMsm, groupOrder, makeKnownBases } from '../../dev/oracle/known-bases.js';
import { createFieldEngine, type FieldEngine, type FieldEngineOptions, type FieldVector } from '../../src/fields.js';
import type { Bases, MsmEngine, MsmEngineOptions, RunFacts } from '../../src/index.js';
import { openEngine } from '../support/engines.js';
import { loseEachDispatch, strikeAt } from '../support/failure-bench.js';
import { type LeasedDevice, leaseDevice, leaseGpu } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { sleep } from '../support/time.js';

const r = groupOrder(bn254G1);
const MOST = 4096;
const known = makeKnownBases(bn254G1, MOST + 3, 51);
const sumOf = (scalars: readonly bigint[], offset = 0) => expectedMsm(bn254G1, known.logs.slice(offset), scalars);

/** Numbers of a vector: zeros, ones, r − 1, short and long ones. */
const numbersOf = (n: number, seed = 1n): bigint[] => {
  const edges = [0n, 1n, r - 1n, 2n ** 64n, r / 2n];
  let state = seed;
  return Array.from({ length: n }, (_, i) => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 128n;
    return i % 3 === 1 ? (edges[i % edges.length] as bigint) : state ** 3n % r;
  });
};

const fieldEngines: FieldEngine[] = [];
afterEach(() => {
  for (const each of fieldEngines.splice(0)) each.destroy();
});
const openField = async (options: FieldEngineOptions): Promise<FieldEngine> => {
  const fr = await createFieldEngine(options);
  fieldEngines.push(fr);
  return fr;
};

/** Bytes of the tables that place scalars: three words a vector. */
const TABLE_BYTES = 12;

describe.each(['gpu', 'cpu'] as const)('vectors of the %s', (backend) => {
  let engine: MsmEngine;
  let bases: Bases;
  let fr: FieldEngine;
  beforeAll(async () => {
    engine = await openEngine({ backend });
    bases = await engine.loadBases(known.bytes);
  });

  const open = async (): Promise<void> => {
    fr = await openField({ deviceOf: engine });
  };

  /** Expects a run of the backend; one on the GPU uploads some tables, and `host` scalars. */
  const expectRun = (tables: number, host: number, expected: Partial<RunFacts> = {}): void => {
    expect(engine.lastRun).toMatchObject({ on: backend, ...expected });
    if (backend === 'gpu') expect(gpuRunOf(engine).uploadedBytes).toBe(tables * TABLE_BYTES + 32 * host);
  };

  test.each([1, 2, 255, 256, 257, MOST])('of %i elements', async (n) => {
    await open();
    const numbers = numbersOf(n);
    const vector = await fr.load(numbers);
    expect(await engine.msm(bases, vector, { offset: 3 })).toEqual(sumOf(numbers, 3));
    expectRun(1, 0, { n, vectors: 1, retried: null });
    const copy = await fr.read(vector);
    expect(await engine.msm(bases, copy, { offset: 3 })).toEqual(sumOf(numbers, 3));
    expectRun(1, n);
  });

  test.each([
    ['zeros', [0n, 0n, 0n, 0n, 0n]],
    ['one zero', [0n]],
    ['r − 1', [r - 1n, r - 1n]],
    ['ones', [1n, 1n, 1n]],
  ])('of %s', async (_, numbers) => {
    await open();
    expect(await engine.msm(bases, await fr.load(numbers))).toEqual(sumOf(numbers));
  });

  test('that a run has computed, in batches with other scalars, with tables, and in another encoding', {
    tags: 'long',
  }, async () => {
    await open();
    const numbers = numbersOf(300);
    const a = await fr.load(numbers);
    const [sum, some] = await fr.run((ops) => [ops.keep(ops.add(a, a)), ops.keep(ops.slice(a, 7, 260))] as const);
    const twice = numbers.map((each) => (2n * each) % r);
    const loaded = await engine.loadScalars(numbers);
    const given = [sum, numbers, some, loaded, a, a, [], [0n]];
    expect(await engine.msmBatch(bases, given, { offsets: [0, 1, 2, 0, 5, 0, 0, 0] })).toEqual([
      ...[sumOf(twice), sumOf(numbers, 1), sumOf(numbers.slice(7, 260), 2), sumOf(numbers), sumOf(numbers, 5)],
      ...[sumOf(numbers), sumOf([]), sumOf([])],
    ]);
    expectRun(6, 300);
    const tabled = await engine.loadBases(known.bytes, { precompute: 3 });
    expect(await engine.msm(tabled, sum)).toEqual(sumOf(twice));
    const bytes = await engine.msm(bases, sum, { result: 'be' });
    expect(BigInt(`0x${Buffer.from(bytes.subarray(0, 32)).toString('hex')}`)).toBe(sumOf(twice).x);
    for (const each of [loaded, tabled]) each.destroy();
  });

  test('are copied where the result is verified', async () => {
    await open();
    const numbers = numbersOf(200);
    const vector = await fr.load(numbers);
    expect(await engine.msm(bases, vector, { verify: true })).toEqual(sumOf(numbers));
    expectRun(1, 200, { verified: true });
  });

  test('may be destroyed once the call is made', async () => {
    await open();
    const numbers = numbersOf(200);
    const vector = await fr.load(numbers);
    const calls = [engine.msm(bases, vector), engine.msm(bases, vector), engine.msm(bases, vector)];
    vector.destroy();
    expect(await Promise.all(calls)).toEqual([sumOf(numbers), sumOf(numbers), sumOf(numbers)]);
    fr.trim();
    expect(fr.memory.used).toBe(0);
    await expect(engine.msm(bases, vector)).rejects.toMatchObject({
      code: 'destroyed',
      message: 'scalars was destroyed, or not kept in its run',
    });
  });

  test('are refused where they are wrong, and then kept by no call', async () => {
    await open();
    const vector = await fr.load(numbersOf(10));
    const badArgument = (message: string) => ({ code: 'bad-argument', message: expect.stringContaining(message) });
    await expect(engine.msm(bases, vector, { offset: MOST })).rejects.toMatchObject(badArgument('scalars: 10 of them'));
    await expect(engine.msmBatch(bases, [vector, 5 as never])).rejects.toMatchObject(badArgument('scalars[1] must be'));
    const other = await openField({ field: 'bls12-381-fr', backend: 'cpu' });
    await expect(engine.msm(bases, await other.load([1n]))).rejects.toMatchObject(
      badArgument("scalars is a vector of another field than that of bn254's scalars"),
    );
    let recorded: FieldVector | null = null;
    const run = fr.run((ops) => {
      recorded = ops.keep(ops.add(vector, vector));
    });
    await expect(engine.msm(bases, recorded as unknown as FieldVector)).rejects.toMatchObject(
      badArgument('scalars is recorded in a run that has not ended; await it first'),
    );
    await run;
    expect(await engine.msm(bases, recorded as unknown as FieldVector)).toEqual(
      sumOf(numbersOf(10).map((each) => (2n * each) % r)),
    );
    await expect(engine.msm(bases, new Proxy(vector, {}))).rejects.toMatchObject(badArgument('scalars must be bytes'));
    await expect(engine.msm(bases, vector, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    for (const each of [vector, recorded as unknown as FieldVector]) each.destroy();
    fr.trim();
    expect(fr.memory.used).toBe(0);
    fr.destroy();
    await expect(engine.msm(bases, vector)).rejects.toMatchObject({ code: 'destroyed' });
  });
});

describe('vectors on a device', () => {
  let lease: LeasedDevice;
  beforeAll(async () => {
    lease = await leaseDevice();
  });
  beforeEach(() => {
    lease.tap = (call) => call.proceed();
  });

  const open = async (options: Partial<MsmEngineOptions> = {}) => {
    const engine = await openEngine({ selfTest: false, device: lease.device, ...options });
    const bases = await engine.loadBases(known.bytes);
    const fr = await openField({ deviceOf: engine });
    return { engine, bases, fr };
  };
  const numbers = numbersOf(150);

  test('are multiplied in chunks and in groups of windows', { tags: 'long' }, async () => {
    const n = 2000;
    const long = numbersOf(n, 9n);
    const { engine, bases, fr } = await open({ memoryBudget: 220_000 });
    const vector = await fr.load(long);
    expect(await engine.msm(bases, vector)).toEqual(sumOf(long));
    expect(gpuRunOf(engine).submits).toBeGreaterThan(2);
    expect(gpuRunOf(engine).uploadedBytes).toBeLessThan(n);
    const groups = await open({ tuning: { additionsPerSubmit: 20_000 } as never });
    const there = await groups.fr.load(long);
    expect(await groups.engine.msm(groups.bases, there)).toEqual(sumOf(long));
    expect(gpuRunOf(groups.engine).submits).toBeGreaterThan(2);
    expect(gpuRunOf(groups.engine).uploadedBytes).toBe(TABLE_BYTES);
  });

  test('cost no memory of their own, and are freed', async () => {
    const { engine, bases, fr } = await open();
    const vector = await fr.load(numbers);
    await engine.msm(bases, vector);
    const [live, { used }] = [lease.live, fr.memory];
    for (let i = 0; i < 5; i++) expect(await engine.msm(bases, vector)).toEqual(sumOf(numbers));
    expect([lease.live, fr.memory.used]).toEqual([live, used]);
    vector.destroy();
    expect([lease.live, fr.memory.used]).toEqual([live - 1, 0]);
    engine.destroy();
    fr.destroy();
    expect(lease.live).toBe(0);
  });

  test('a lost dispatch is repeated, whichever it is', async () => {
    const { engine, bases, fr } = await open();
    const vector = await fr.load(numbers);
    await engine.msm(bases, vector);
    const retried: (string | null | undefined)[] = [];
    await loseEachDispatch(lease, 59, async () => {
      expect(await engine.msm(bases, vector)).toEqual(sumOf(numbers));
      retried.push(engine.lastRun?.retried);
    });
    // without a loss
    expect(retried.pop()).toBeNull();
    expect(retried[0]).toContain('scalars: dispatch 1 of');
    expect(retried.every((why) => typeof why === 'string')).toBe(true);
  });

  test.each(['cleared', 'of the call before'])(
    'scalars that are %s when decompose reads them are found',
    async (how) => {
      const { engine, bases, fr } = await open();
      const [vector, other] = [await fr.load(numbers), await fr.load(numbersOf(150, 3n))];
      let bound: GPUBuffer | null = null;
      lease.tap = (call) => {
        if (call.method === 'createBindGroup' && call.label === 'decompose') {
          const [{ entries }] = call.args as [{ entries: { resource: GPUBufferBinding }[] }];
          // after the config, the vectors and the picks
          bound = entries[3]?.resource.buffer ?? null;
        }
        return call.proceed();
      };
      await engine.msm(bases, other);
      const scalars = bound as unknown as GPUBuffer;
      const stale = lease.real.createBuffer({ size: scalars.size, usage: scalars.usage });
      const copying = lease.real.createCommandEncoder();
      copying.copyBufferToBuffer(scalars, 0, stale, 0, scalars.size);
      lease.real.queue.submit([copying.finish()]);
      let encoder: GPUCommandEncoder | null = null;
      let strikes = 0;
      lease.tap = (call) => {
        if (call.method === 'createCommandEncoder') {
          encoder = call.proceed() as GPUCommandEncoder;
          return encoder;
        }
        if (call.method === 'beginComputePass' && call.label === 'decompose' && strikes++ === 0) {
          if (how === 'cleared') encoder?.clearBuffer(scalars);
          else encoder?.copyBufferToBuffer(stale, 0, scalars, 0, scalars.size);
        }
        return call.proceed();
      };
      expect(await engine.msm(bases, vector)).toEqual(sumOf(numbers));
      expect(strikes).toBe(2);
      expect(engine.lastRun?.retried).toContain('it read other scalars than those that were sent');
      stale.destroy();
    },
  );

  test('an abort leaves nothing behind, and the vector stays', async () => {
    const { engine, bases, fr } = await open();
    const vector = await fr.load(numbers);
    await engine.msm(bases, vector);
    const { used } = fr.memory;
    const controller = new AbortController();
    strikeAt(
      lease,
      ({ method }) => method === 'mapAsync',
      ({ proceed }) => {
        controller.abort();
        return proceed();
      },
    );
    const call = engine.msm(bases, vector, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(fr.memory.used).toBe(used);
    expect(await engine.msm(bases, vector)).toEqual(sumOf(numbers));
    vector.destroy();
    expect(fr.memory.used).toBe(0);
  });

  test('the end of the field engine ends calls that use its vectors', async () => {
    const { engine, bases, fr } = await open();
    const vector = await fr.load(numbers);
    await engine.msm(bases, vector);
    const call = engine.msm(bases, vector);
    fr.destroy();
    await expect(call).rejects.toMatchObject({ code: 'destroyed' });
    expect(await engine.msm(bases, numbers)).toEqual(sumOf(numbers));
  });

  test.each([
    ['loaded', 0],
    ['computed', 1],
  ] as const)('those that were %s come to the next device, and to the one after it', async (_, which) => {
    const gpu = await leaseGpu();
    const engine = await openEngine({ selfTest: false, gpu: gpu.gpu });
    const bases = await engine.loadBases(known.bytes);
    const fr = await openField({ deviceOf: engine });
    const loaded = await fr.load(numbers);
    const vector = [loaded, await fr.run((ops) => ops.keep(ops.scale(loaded, 3n)))][which] as FieldVector;
    const expected = sumOf(numbers.map((each) => (which === 0 ? each : (3n * each) % r)));
    expect(await engine.msm(bases, vector)).toEqual(expected);
    for (let losses = 0; losses < 2; losses++) {
      gpu.devices.at(-1)?.takeAway('at once');
      await sleep();
      const calls = [engine.msm(bases, vector), engine.msm(bases, vector), engine.msm(bases, vector)];
      expect(await Promise.all(calls)).toEqual([expected, expected, expected]);
      expect(gpuRunOf(engine).uploadedBytes).toBe(TABLE_BYTES);
    }
    expect(gpu.devices).toHaveLength(3);
  });

  test('a vector of another device is copied', async () => {
    const { engine, bases } = await open();
    const elsewhere = await openField({ device: (await leaseDevice()).device });
    expect(await engine.msm(bases, await elsewhere.load(numbers))).toEqual(sumOf(numbers));
    expect(gpuRunOf(engine).uploadedBytes).toBe(TABLE_BYTES + 32 * 150);
  });
});
