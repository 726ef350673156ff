/** Time slices of calls on the CPU: urgent calls go first, and aborted calls end at once. */
import { afterEach, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { ComputeWorker } from '../../src/api/calls.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { createMsmEngine, type MsmEngine, type MsmEngineOptions } from '../../src/index.js';
import { multiplyOnCpu } from '../../src/msm/cpu/cpu-backend.js';
import { type CpuPool, type Threads, workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import type { RoundTask, WindowSums } from '../../src/msm/cpu/share.js';
import { NO_TABLES, survey } from '../../src/msm/plan/workload.js';
import { Pool } from '../../src/threads/pool.js';
import type { Round, RoundOutcome } from '../../src/threads/round.js';
import { getDevice } from '../support/gpu.js';
import { cpuRunOf } from '../support/runs.js';
import { sleep } from '../support/time.js';

const curve = curveContext(bn254);
const large = makeCase({ points: 'distinct', scalars: 'random', n: 8192, seed: 8 });
const small = makeCase({ points: 'distinct', scalars: 'random', n: 40, seed: 9 });

const surveyed = ({ scalars }: { readonly scalars: { readonly bytes: Uint8Array<ArrayBuffer> } }) => ({
  ...survey(curve, scalars.bytes, NO_TABLES, true),
  offset: 0,
});
const source = { bytes: large.points.bytes, scale: 1n, encoding: 'le' as const };
const singleThread = { pool: null, workers: 0, distribution: 'dynamic', chunk: null } as const;

const multiply = (threads: Partial<Threads>, vectors = [surveyed(large)]) =>
  multiplyOnCpu(curve, source, vectors, () => undefined, { ...singleThread, ...threads });

const pools: CpuPool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.destroy();
});

const makePool = (start: () => ComputeWorker): CpuPool => {
  const pool: CpuPool = new Pool(start, true, { idleMs: 10_000, silentMs: 50 });
  pools.push(pool);
  return pool;
};

describe('a sum', () => {
  test('lets other sums go first between its time slices, and does not count their time', async () => {
    let pauses = 0;
    const { sums, waitedMs } = await multiply({
      pause: (most) => {
        expect(most).toBe(Number.POSITIVE_INFINITY);
        // another sum of the same curve must not touch the memory of this one
        return ++pauses === 3
          ? sleep(100).then(async () => expect((await multiply({})).sums).toEqual([large.expected]))
          : null;
      },
    });
    expect(sums).toEqual([large.expected]);
    expect(pauses).toBeGreaterThan(4);
    expect(waitedMs).toBeGreaterThan(100);
  });

  test('lets only small sums go first during a round of the workers, and any sum between rounds', async () => {
    const pool = makePool(workerStarter() as () => ComputeWorker);
    const asked: { readonly most: number; readonly isBusy: boolean }[] = [];
    // more windows than fit in one round
    const vectors = Array.from({ length: 200 }, () => surveyed(small));
    const { sums, workers, entries } = await multiplyOnCpu(
      curve,
      { ...source, bytes: small.points.bytes },
      vectors,
      () => undefined,
      {
        ...{ ...singleThread, pool, workers: 1 },
        pause: (most) => {
          asked.push({ most, isBusy: pool.isBusy });
          return null;
        },
      },
    );
    expect(sums).toEqual(vectors.map(() => small.expected));
    expect(workers).toBeLessThanOrEqual(1);
    const [beside, between] = [asked.filter(({ isBusy }) => isBusy), asked.filter(({ isBusy }) => !isBusy)];
    for (const { most } of between) expect(most).toBe(Number.POSITIVE_INFINITY);
    for (const { most } of beside) {
      expect(most).toBeGreaterThan(0);
      // of a round less than all is, and of that the half
      expect(most).toBeLessThan(0.5 * entries);
    }
    const last = asked.findLastIndex(({ isBusy }) => isBusy);
    expect(asked.slice(0, last).filter(({ isBusy }) => !isBusy).length).toBeGreaterThanOrEqual(2);
  });

  test('tells the pool how long chunks took, without sums that went first', async () => {
    const spent = { own: 0, all: 0 };
    // a pool without workers: the own thread computes all chunks
    const pool = {
      afford: () => 1,
      choose: (_: number, workers: number) => ({ workers, measures: false }),
      reserve: () => undefined,
      run: async ({ own, chunks }: Round<RoundTask, WindowSums>): Promise<RoundOutcome<WindowSums>> => {
        const share = own();
        const begun = performance.now();
        for (let chunk = 0; chunk < chunks; chunk++) spent.own += await share.add(chunk);
        spent.all = performance.now() - begun;
        return { results: [await share.settle()], workers: [], lost: null, measured: null };
      },
    } as unknown as CpuPool;
    let pauses = 0;
    const pause = () => (++pauses === 3 ? sleep(200) : null);
    const { sums } = await multiply({ pool, workers: 1, chunk: 256, pause });
    expect(sums).toEqual([large.expected]);
    expect(spent.own).toBeGreaterThan(0);
    expect(spent.all - spent.own).toBeGreaterThan(190);
  });
});

/** Two of the four engines are in the first tier. */
const long = { tags: 'long' } as const;

describe.each([
  ['without a GPU', long, 0, async () => ({ backend: 'cpu' })],
  ['without a GPU, with a worker', {}, 1, async () => ({ backend: 'cpu' })],
  ['beside a GPU', {}, 0, async () => ({ device: await getDevice(), tuning: { cpuBelow: 65_536 } })],
  ['beside a GPU, with a worker', long, 1, async () => ({ device: await getDevice(), tuning: { cpuBelow: 65_536 } })],
] as const)('an engine %s', (_, tier, maxWorkers, optionsOf) => {
  const open = async () => {
    const options = { curve: 'bn254', maxWorkers, ...(await optionsOf()) } as MsmEngineOptions & { curve: 'bn254' };
    const engine: MsmEngine = await createMsmEngine(options);
    const bases = await engine.loadBases(large.points.bytes);
    const others = await engine.loadBases(small.points.bytes);
    expect(await engine.msmBatch(bases, [large.scalars.bytes])).toEqual([large.expected]);
    const happened: string[] = [];
    /** A batch, once it is computed. */
    const begin = async (priority: 'background' | 'normal') => {
      let done: Promise<unknown> = Promise.resolve();
      await new Promise<void>((resolve) => {
        const vectors = [large.scalars.bytes, large.scalars.bytes];
        const onProgress = (): void => resolve();
        done = engine.msmBatch(bases, vectors, { priority, onProgress }).then((sums) => {
          expect(sums).toEqual([large.expected, large.expected]);
          happened.push('batch');
        });
      });
      return { done };
    };
    return { engine, others, happened, begin };
  };

  test('computes a more urgent call between time slices, and counts its time separately', tier, async () => {
    const { engine, others, happened, begin } = await open();
    const { done } = await begin('background');
    const blockedMs = 100;
    const onProgress = (): void => {
      const since = performance.now();
      while (performance.now() - since < blockedMs / 2);
    };
    for (let i = 0; i < 2; i++) {
      expect(await engine.msm(others, small.scalars.bytes, { priority: 'interactive', onProgress })).toEqual(
        small.expected,
      );
      expect(engine.lastRun).toMatchObject({ on: 'cpu', n: 40 });
      happened.push('urgent');
    }
    await done;
    expect(happened).toEqual(['urgent', 'urgent', 'batch']);
    const { cpuMs, wallMs, n } = cpuRunOf(engine);
    expect(n).toBe(2 * 8192);
    expect(cpuMs).toBeLessThan(wallMs - 2 * blockedMs);
    engine.destroy();
  });

  test('ends a call at once that is aborted while it waits', tier, async () => {
    const { engine, others, happened, begin } = await open();
    const { done } = await begin('normal');
    const controller = new AbortController();
    const waiting = engine
      .msm(others, small.scalars.bytes, { signal: controller.signal })
      .catch(({ code }) => happened.push(code));
    await sleep(5);
    expect(engine.stats).toMatchObject({ running: 2, waiting: 0 });
    controller.abort();
    await waiting;
    await done;
    expect(happened).toEqual(['aborted', 'batch']);
    expect(await engine.msm(others, small.scalars.bytes)).toEqual(small.expected);
    engine.destroy();
  });
});

test('loading points shares the CPU with sums, without a GPU', async () => {
  const engine = await createMsmEngine({ curve: 'bls12-381', backend: 'cpu', maxWorkers: 0 });
  const made = makeCase({ curve: 'bls12-381', group: 'g1', points: 'distinct', scalars: 'random', n: 400, seed: 3 });
  const few = await engine.loadBases(made.points.bytes.slice(0, 96 * 5));
  const scalars = made.scalars.bytes.slice(0, 32 * 5);
  const sum = await engine.msm(few, scalars);
  const happened: string[] = [];
  let done: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    const options = { checkSubgroup: true, onProgress: () => resolve() };
    done = engine.loadBases(made.points.bytes, options).then(() => happened.push('all points'));
  });
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = engine.loadBases(made.points.bytes, { signal }).catch(({ code }) => happened.push(code));
  await sleep(5);
  controller.abort();
  await aborted;
  const next = engine.msm(few, scalars).then(() => happened.push('next'));
  expect(await engine.msm(few, scalars, { priority: 'interactive' })).toEqual(sum);
  happened.push('urgent');
  await Promise.all([done, next]);
  expect(happened).toEqual(['aborted', 'urgent', 'all points', 'next']);
  engine.destroy();
});
