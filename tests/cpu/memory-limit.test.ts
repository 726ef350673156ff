/** Engines under a limit of main memory: the points that they keep, and workers for which there is room. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { MsmEngine, MsmEngineOptions } from '../../src/index.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { useAllWorkers } from '../support/all-workers.js';
import { openEngine } from '../support/engines.js';
import { cpuRunOf } from '../support/runs.js';

useAllWorkers();
afterEach(() => {
  vi.restoreAllMocks();
});

const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 20_000, seed: 51 });
const pointsBytes = points.bytes.length;

/** Bytes of sums on the thread of the engine, and on each worker, as the option says. */
const [CALLER, WORKER] = [80 * 2 ** 20, 32 * 2 ** 20];

const open = (memoryLimit?: number, options: Partial<MsmEngineOptions> = {}): Promise<MsmEngine> =>
  openEngine({ backend: 'cpu', maxWorkers: 2, tuning: { cpuDistribution: 'static' }, memoryLimit, ...options });

/** Opens an engine without a limit in a process whose container has some bytes. */
const openWithin = (bytes: number, options?: Partial<MsmEngineOptions>): Promise<MsmEngine> => {
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(bytes);
  return open(undefined, options);
};

type Open = (options: Partial<MsmEngineOptions>) => Promise<MsmEngine>;

/** Opens two engines on the same threads. */
const openBoth = async (openFirst: Open, openSecond: Open): Promise<readonly [MsmEngine, MsmEngine]> => {
  const first = await openFirst({});
  return [first, await openSecond({ deviceOf: first })];
};

const mainOf = async (engine: MsmEngine): Promise<readonly [bytes: number, limit: number]> => {
  const bases = await engine.loadBases([]);
  const { mainBytes, mainLimit } = await engine.plan(bases, 0);
  return [mainBytes, mainLimit];
};

describe('points beyond the limit', () => {
  test('are refused before they are copied, with the numbers, and there is room again after some are freed', async () => {
    const limit = CALLER + 2 * pointsBytes;
    const engine = await open(limit);
    const [first, second] = [await engine.loadBases(points.bytes), await engine.loadBases(points.bytes)];
    expect(await mainOf(engine)).toEqual([2 * pointsBytes, limit]);
    const slice = vi.fn(() => points.bytes.subarray(0, 64));
    for (const one of [points.bytes.subarray(0, 64), { byteLength: 64, slice }]) {
      await expect(engine.loadBases(one)).rejects.toMatchObject({
        code: 'out-of-memory',
        message: `options.memoryLimit is ${limit} bytes, and these points take 64 bytes beside ${2 * pointsBytes} of others and ${CALLER} for sums on one thread; raise it, or destroy bases that are not needed`,
      });
    }
    expect(slice).not.toHaveBeenCalled();
    await expect(engine.loadBases([{ x: 1n, y: 2n, infinity: false }])).rejects.toMatchObject({
      code: 'out-of-memory',
    });
    // the engine stays usable, without workers
    expect(await engine.msm(first, scalars.bytes)).toEqual(expected);
    expect(cpuRunOf(engine).workers).toBe(0);
    first.destroy();
    await engine.loadBases(points.bytes.subarray(0, 64));
    expect(await engine.msm(second, scalars.bytes)).toEqual(expected);
  });

  test('count with what their encoding makes of them', async () => {
    const free = await open(2 ** 40);
    const bases = await free.loadBases(points.bytes.subarray(0, 64));
    const compressed = await free.msm(bases, [1n], { result: 'ark-compressed' });
    expect(compressed).toHaveLength(32);
    const engine = await open(CALLER + 63);
    await expect(engine.loadBases(compressed, { encoding: 'ark-compressed' })).rejects.toMatchObject({
      code: 'out-of-memory',
      message: expect.stringContaining('these points take 64 bytes beside 0 of others'),
    });
    await engine.loadBases(new Uint8Array());
  });

  test('leave no trace of a load that failed or was aborted', async () => {
    const engine = await open(CALLER + pointsBytes);
    const wrong = points.bytes.slice();
    wrong[640] = (wrong[640] as number) ^ 1;
    await expect(engine.loadBases(wrong)).rejects.toMatchObject({ code: 'not-on-curve' });
    const ending = new AbortController();
    const aborted = engine.loadBases(points.bytes, { signal: ending.signal, onProgress: () => ending.abort() });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
    await expect(engine.loadBases(5 as never)).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(engine.loadBases(null as never)).rejects.toMatchObject({ code: 'bad-argument' });
    expect((await mainOf(engine))[0]).toBe(0);
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
  });

  test('are counted with those of an engine that shares the threads, and the lowest limit holds', async () => {
    const first = await open(CALLER + 4 * pointsBytes);
    await first.loadBases(points.bytes);
    const second = await open(CALLER + 2 * pointsBytes, { deviceOf: first });
    await second.loadBases(points.bytes);
    for (const engine of [first, second]) {
      await expect(engine.loadBases(points.bytes)).rejects.toMatchObject({ code: 'out-of-memory' });
      expect(await mainOf(engine)).toEqual([2 * pointsBytes, CALLER + 2 * pointsBytes]);
    }
  });
});

test.each(['before', 'after'])(
  'a limit above the default replaces it, set %s an engine without one shares the threads, and is strict',
  async (when) => {
    const limit = CALLER + 2 * pointsBytes;
    const [first, second] =
      when === 'before'
        ? await openBoth(
            (options) => open(limit, options),
            (options) => openWithin(2 ** 20, options),
          )
        : await openBoth(
            (options) => openWithin(2 ** 20, options),
            (options) => open(limit, options),
          );
    await first.loadBases(points.bytes);
    await second.loadBases(points.bytes);
    for (const engine of [first, second]) {
      expect(await mainOf(engine)).toEqual([2 * pointsBytes, limit]);
      await expect(engine.loadBases(points.bytes)).rejects.toMatchObject({ code: 'out-of-memory' });
    }
    await open(limit + 1, { deviceOf: first });
    expect(await mainOf(first)).toEqual([2 * pointsBytes, limit]);
  },
);

describe('workers', () => {
  test.each([0, 1, 2])('are as many as have room beside the points: %i', async (workers) => {
    for (const spare of [0, WORKER - 1]) {
      const engine = await open(CALLER + pointsBytes + workers * WORKER + (workers === 2 ? 0 : spare));
      const bases = await engine.loadBases(points.bytes);
      // workers that are on their way take part in a later sum
      for (let turn = 0; turn < 50; turn++) {
        expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
        expect(cpuRunOf(engine).workers).toBeLessThanOrEqual(workers);
        if (cpuRunOf(engine).workers === workers) break;
      }
      expect(cpuRunOf(engine)).toMatchObject({ workers, noWorkers: null });
      engine.destroy();
    }
  });
});

describe('without the option', () => {
  test('the limit is that of the platform, and workers find no room, but points are not refused', async () => {
    const engine = await openWithin(2 ** 20);
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    expect(cpuRunOf(engine).workers).toBe(0);
    expect(await mainOf(engine)).toEqual([pointsBytes, 0.75 * 2 ** 20]);
  });

  test('points that were destroyed are not counted', async () => {
    const engine = await open();
    (await engine.loadBases(points.bytes)).destroy();
    expect((await mainOf(engine))[0]).toBe(0);
  });
});

test.each([0, -1, 1.5, '5', Number.NaN, Number.POSITIVE_INFINITY])('a limit of %o is refused', async (memoryLimit) => {
  await expect(open(memoryLimit as never)).rejects.toMatchObject({
    code: 'bad-argument',
    message: expect.stringContaining('memoryLimit must be a positive integer of bytes'),
  });
});

test('sums one after the other take one memory of WebAssembly, which trim and destroy free', async () => {
  const engine = await open(undefined, { maxWorkers: 0 });
  const bases = await engine.loadBases(points.bytes);
  await engine.trim();
  const opened = vi.spyOn(PointAdder, 'open');
  const sums = async (): Promise<number> => {
    opened.mockClear();
    for (let turn = 0; turn < 3; turn++) expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    return opened.mock.calls.length;
  };
  expect(await sums()).toBe(1);
  expect(await sums()).toBe(0);
  await engine.trim();
  expect(await sums()).toBe(1);
  (await open()).destroy();
  expect(await sums()).toBe(1);
  // a sum that is under way when its memory is freed does not keep it
  await engine.trim();
  opened.mockClear();
  const sum = engine.msm(bases, scalars.bytes);
  await vi.waitFor(() => expect(opened).toHaveBeenCalled());
  await Promise.all([engine.trim(), sum]);
  expect(await sums()).toBe(1);
});
