/**
 * Scalars that are loaded once and multiplied often: the same sums, uploaded once, counted, freed,
 * and loaded again after a loss.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { oraclesOfG2 } from '../../dev/oracle/curves.js';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  groupOrder,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';
import { type Bases, createMsmEngine, type MsmEngine, type MsmEngineOptions, type Scalars } from '../../src/index.js';
import { openEngine, quick } from '../support/engines.js';
import { type Call, type LeasedDevice, leaseDevice, leaseGpu } from '../support/leased-gpu.js';
import { sleep } from '../support/time.js';

const r = groupOrder(bn254G1);
const n = 200;
const known = makeKnownBases(bn254G1, n, 41);
const given = makeRandomScalars(bn254G1, n, 42);
const sumOf = (scalars: readonly bigint[], offset = 0) => expectedMsm(bn254G1, known.logs.slice(offset), scalars);

/** Calls that upload scalars to the device. */
const watchWrites = (lease: LeasedDevice): Call[] => {
  const seen: Call[] = [];
  lease.tap = (call) => {
    const [buffer] = call.args as [GPUBuffer];
    if (call.method === 'writeBuffer' && buffer.label === 'webgpu-msm scalars') seen.push(call);
    return call.proceed();
  };
  return seen;
};

describe.each(['gpu', 'cpu'] as const)('%s', (backend) => {
  let engine: MsmEngine;
  let bases: Bases;
  beforeAll(async () => {
    engine = await openEngine({ backend });
    bases = await engine.loadBases(known.bytes);
  });

  test('loaded scalars give the right sums, all and some, at any offset, alone and in batches', async () => {
    const scalars = await engine.loadScalars(given);
    expect(scalars.length).toBe(n);
    expect(await engine.msm(bases, scalars)).toEqual(sumOf(given));
    expect(engine.lastRun?.on).toBe(backend);
    for (const [from, to, offset] of [
      [0, 1, 0],
      [1, n, 0],
      [n - 1, n, n - 1],
      [33, 133, 7],
      [5, 5, 3],
    ] as const) {
      const some = scalars.subarray(from, to);
      expect(some.length).toBe(to - from);
      expect(await engine.msm(bases, some, { offset })).toEqual(sumOf(given.slice(from, to), offset));
      // of a part, a part
      expect(await engine.msm(bases, some.subarray(some.length >> 1), { offset })).toEqual(
        sumOf(given.slice(from + ((to - from) >> 1), to), offset),
      );
    }
    const few = given.slice(3, 90);
    const vectors = [scalars, few, scalars.subarray(3, 90), encodeScalars(bn254G1, few), scalars.subarray(0, 0)];
    expect(await engine.msmBatch(bases, vectors, { offsets: [0, 2, 2, 0, 9] })).toEqual([
      sumOf(given),
      sumOf(few, 2),
      sumOf(few, 2),
      sumOf(few),
      sumOf([]),
    ]);
    scalars.destroy();
  });

  test('mostly-zero and empty scalars are right, also with tables, and verified', { tags: 'long' }, async () => {
    const sparse = given.map((scalar, i) => (i % 5 === 2 ? scalar : 0n));
    const some = await engine.loadScalars(sparse);
    const tabled = await engine.loadBases(known.bytes, { precompute: 3 });
    for (let i = 0; i < 2; i++) {
      expect(await engine.msm(bases, some, { verify: true })).toEqual(sumOf(sparse));
      expect(await engine.msm(tabled, some)).toEqual(sumOf(sparse));
      expect(await engine.msm(bases, some.subarray(0, 50))).toEqual(sumOf(sparse.slice(0, 50)));
    }
    const none = await engine.loadScalars([]);
    expect(await engine.msm(bases, none)).toEqual(sumOf([]));
    for (const each of [some, none, tabled]) each.destroy();
  });

  test('bytes in other encodings are converted when they are loaded', async () => {
    const bigEndian = encodeScalars(bn254G1, given);
    for (let i = 0; i < n; i++) bigEndian.subarray(32 * i, 32 * i + 32).reverse();
    const montgomery = encodeScalars(
      bn254G1,
      given.map((scalar) => (scalar * 2n ** 256n) % r),
    );
    const read = [
      await engine.loadScalars(bigEndian, { scalarEncoding: 'be' }),
      await engine.loadScalars(montgomery, { scalarEncoding: 'le-montgomery' }),
    ];
    bigEndian.fill(0);
    for (const scalars of read) expect(await engine.msm(bases, scalars)).toEqual(sumOf(given));
    // what says how bytes are to be read says nothing of what was
    expect(await engine.msmBatch(bases, [montgomery, ...read], { scalarEncoding: 'le-montgomery' })).toEqual(
      new Array(3).fill(sumOf(given)),
    );
    for (const scalars of read) scalars.destroy();
  });

  test('destroyed scalars are rejected, and earlier calls continue', async () => {
    const scalars = await engine.loadScalars(given, { label: 'witness' });
    const [part, other] = [scalars.subarray(10), scalars.subarray(0, 10)];
    part.destroy();
    await expect(engine.msm(bases, part)).rejects.toMatchObject({
      code: 'destroyed',
      message: "a part of the scalars 'witness' was destroyed; take it again",
    });
    const calls = [engine.msm(bases, scalars), engine.msm(bases, other), engine.msm(bases, scalars)];
    scalars.destroy();
    scalars.destroy();
    expect(await Promise.all(calls)).toEqual([sumOf(given), sumOf(given.slice(0, 10)), sumOf(given)]);
    for (const each of [scalars, other]) {
      await expect(engine.msm(bases, each)).rejects.toMatchObject({
        code: 'destroyed',
        message: "the scalars 'witness' were destroyed; load them again",
      });
      expect(() => each.subarray()).toThrow(expect.objectContaining({ code: 'destroyed' }));
    }
    expect(scalars.byteLength).toBe(0);
    expect(engine.memory.scalars).toBe(0);
  });

  test('wrong arguments are rejected', async () => {
    const scalars = await engine.loadScalars(given);
    const badArgument = (message: string) => ({ code: 'bad-argument', message: expect.stringContaining(message) });
    await expect(engine.msm(bases, scalars, { offset: 1 })).rejects.toMatchObject(
      badArgument('scalars: 200 of them, but from offset 1 there are only 199 bases'),
    );
    await expect(engine.msmBatch(bases, [[], scalars], { offsets: [0, 200] })).rejects.toMatchObject(
      badArgument('scalars[1]: 200 of them'),
    );
    for (const range of [[-1], [0, n + 1], [5, 4], [0.5], ['1']] as unknown as [number, number][])
      expect(() => scalars.subarray(...range)).toThrow(expect.objectContaining(badArgument('from and to must be')));
    for (const wrong of [undefined, 5, new Uint8Array(33), [-1n], [1]])
      await expect(engine.loadScalars(wrong as never)).rejects.toMatchObject(badArgument('scalars'));
    for (const options of [null, { label: 1 }, { signal: 1 }])
      await expect(engine.loadScalars(given, options as never)).rejects.toMatchObject(badArgument('options'));
    await expect(engine.loadScalars(given, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    // of what looks like a handle, nothing is believed
    const forged = { ...scalars, length: n, byteLength: 0, destroy() {}, subarray: () => forged } as never;
    await expect(engine.msm(bases, forged)).rejects.toMatchObject(badArgument('scalars must be bytes'));
    const grumpkin = await openEngine({ curve: 'grumpkin', backend: 'cpu' });
    const point = await grumpkin.loadBases([
      { x: 1n, y: 17631683881184975370165255887551781615748388533673675138860n, infinity: false },
    ]);
    await expect(grumpkin.msm(point, scalars.subarray(0, 1))).rejects.toMatchObject(
      badArgument("scalars were loaded for a group of another order than grumpkin's"),
    );
    scalars.destroy();
  });
});

describe('loaded scalars on a device', () => {
  const open = (options: Partial<MsmEngineOptions>): Promise<MsmEngine> => openEngine({ selfTest: false, ...options });

  test('are uploaded once, counted, and freed', async () => {
    const lease = await leaseDevice();
    const engine = await open({ device: lease.device });
    const bases = await engine.loadBases(known.bytes);
    await engine.msm(bases, given);
    const [before, { bases: ofBases, scratch }] = [lease.live, engine.memory];
    const writes = watchWrites(lease);
    const scalars = await engine.loadScalars(given);
    expect([writes.length, lease.live]).toEqual([1, before + 1]);
    expect([scalars.byteLength, scalars.subarray(1, 3).byteLength]).toEqual([32 * n, 64]);
    for (let i = 0; i < 3; i++) {
      expect(await engine.msm(bases, scalars)).toEqual(sumOf(given));
      expect(await engine.msm(bases, scalars.subarray(20, 120))).toEqual(sumOf(given.slice(20, 120)));
      expect(await engine.msmBatch(bases, [scalars, scalars.subarray(7)])).toEqual([
        sumOf(given),
        sumOf(given.slice(7)),
      ]);
    }
    expect(writes).toHaveLength(1);
    expect(engine.memory).toMatchObject({ bases: ofBases, scalars: 32 * n });
    scalars.destroy();
    expect(engine.memory).toMatchObject({ bases: ofBases, scalars: 0 });
    expect(engine.memory.scratch).toBeGreaterThanOrEqual(scratch);
    const kept = await engine.loadScalars(given);
    engine.destroy();
    expect([lease.live, engine.memory.scalars, kept.byteLength]).toEqual([0, 0, 0]);
  });

  test('leave nothing behind, after a thousand of them', async () => {
    const lease = await leaseDevice();
    const engine = await open({ device: lease.device });
    const before = lease.live;
    for (let i = 0; i < 1000; i++) (await engine.loadScalars(given.slice(0, 1 + (i % 7)))).destroy();
    expect([lease.live, engine.memory.scalars]).toEqual([before, 0]);
  });

  test('are shared by engines on one device, also of another group; on another device they are uploaded', {
    tags: 'long',
  }, async () => {
    const lease = await leaseDevice();
    const engine = await open({ device: lease.device });
    const oracle = oraclesOfG2.bn254;
    const knownG2 = makeKnownBases(oracle, 60, 43);
    const g2 = await createMsmEngine({
      curve: 'bn254',
      group: 'g2',
      device: lease.device,
      tuning: quick,
      selfTest: false,
    });
    const elsewhere = await open({});
    const onCpu = await open({ backend: 'cpu' });
    const scalars = await engine.loadScalars(given);
    const basesOfG2 = await g2.loadBases(knownG2.points);
    const writes = watchWrites(lease);
    const expected = expectedMsm(oracle, knownG2.logs, given.slice(100, 160));
    expect(await g2.msm(basesOfG2, scalars.subarray(100, 160))).toEqual(expected);
    expect(writes).toHaveLength(0);
    expect(g2.memory.scalars).toBe(0);
    for (const other of [elsewhere, onCpu])
      expect(await other.msm(await other.loadBases(known.bytes), scalars)).toEqual(sumOf(given));
    // the engine that has them goes, and the other goes on
    engine.destroy();
    expect(await g2.msm(basesOfG2, scalars.subarray(100, 160))).toEqual(expected);
    expect(writes).toHaveLength(1);
    g2.destroy();
  });

  test('leave nothing on the device if the load is aborted at any moment', async () => {
    const lease = await leaseDevice();
    const loading = await open({ device: lease.device });
    await loading.loadBases(known.bytes);
    const { bases } = loading.memory;
    let aborted = 0;
    const abortAfter = async (kind: 'loadBases' | 'loadScalars', turns: number): Promise<void> => {
      const controller = new AbortController();
      const { signal } = controller;
      const load =
        kind === 'loadBases' ? loading.loadBases(known.bytes, { signal }) : loading.loadScalars(given, { signal });
      const ended = load.then(
        (loaded) => loaded.destroy(),
        (error) => {
          expect(error).toMatchObject({ code: 'aborted' });
          aborted++;
        },
      );
      for (let turn = 0; turn < turns; turn++) await undefined;
      controller.abort();
      await ended;
    };
    for (let turns = 0; turns < 60; turns++) {
      await abortAfter('loadBases', turns);
      await abortAfter('loadScalars', turns);
    }
    expect(aborted).toBeGreaterThan(30);
    await expect.poll(() => loading.memory).toMatchObject({ bases, scalars: 0 });
  });

  test('are loaded again after the loss of the device', { tags: 'long' }, async () => {
    const leased = await leaseGpu();
    const engine = await open({ gpu: leased.gpu });
    const bases = await engine.loadBases(known.bytes);
    const scalars = await engine.loadScalars(given);
    expect(await engine.msm(bases, scalars)).toEqual(sumOf(given));
    leased.devices[0]?.takeAway('at once');
    await sleep();
    expect(scalars.byteLength).toBe(0);
    expect(await engine.msm(bases, scalars.subarray(1))).toEqual(sumOf(given.slice(1)));
    expect(leased.devices).toHaveLength(2);
    expect([engine.memory.scalars, scalars.byteLength]).toEqual([32 * n, 32 * n]);
    engine.destroy();
    expect(leased.devices[1]?.live).toBe(0);
  });

  test('are uploaded again if they were overwritten on the device', { tags: 'long' }, async () => {
    const lease = await leaseDevice();
    const engine = await open({ device: lease.device });
    const bases = await engine.loadBases(known.bytes);
    let scalars: Scalars | null = null;
    let uploads = 0;
    lease.tap = (call) => {
      const [buffer, , data] = call.args as [GPUBuffer, unknown, Uint8Array];
      const result = call.proceed();
      if (call.method !== 'writeBuffer' || buffer.label !== 'webgpu-msm witness') return result;
      uploads++;
      if (scalars === null) call.proceed([buffer, 64, data.slice(0, 32)]);
      return result;
    };
    scalars = await engine.loadScalars(given, { label: 'witness' });
    expect(await engine.msm(bases, scalars)).toEqual(sumOf(given));
    expect(engine.lastRun?.retried).toContain('it read other scalars than those that were sent');
    expect(uploads).toBe(2);
    expect(await engine.msm(bases, scalars)).toEqual(sumOf(given));
    expect(engine.lastRun?.retried).toBeNull();
    expect([uploads, scalars.byteLength]).toEqual([2, 32 * n]);
  });

  test('reject the call if there is no memory for them, and the engine stays usable', { tags: 'long' }, async () => {
    const lease = await leaseDevice();
    const engine = await open({ device: lease.device });
    const bases = await engine.loadBases(known.bytes);
    lease.tap = (call) => {
      if (call.method === 'createBuffer' && call.label === 'witness') throw new RangeError('injected');
      return call.proceed();
    };
    await expect(engine.loadScalars(given, { label: 'witness' })).rejects.toMatchObject({ code: 'out-of-memory' });
    expect(engine.memory.scalars).toBe(0);
    lease.tap = (call) => call.proceed();
    const scalars = await engine.loadScalars(given, { label: 'witness' });
    expect(await engine.msm(bases, scalars)).toEqual(sumOf(given));
  });
});
