/**
 * Pools of Node's workers: every way to hand out chunks, workers that die, and calls that end
 * early.
 */
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { ComputeWorker } from '../../src/api/calls.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { multiplyOnCpu } from '../../src/msm/cpu/cpu-backend.js';
import { type CpuPool, CpuThreads, type Threads, workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import { NO_TABLES, survey } from '../../src/msm/plan/workload.js';
import { threadsHere } from '../../src/threads/platform.js';
import { Pool, type PoolTimeouts } from '../../src/threads/pool.js';
import { useAllWorkers } from '../support/all-workers.js';
import { sleep, until } from '../support/time.js';

useAllWorkers();

const curve = curveContext(bn254);
const start = workerStarter() as () => Worker;

const pools: CpuPool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.destroy();
});

const patience: PoolTimeouts = { idleMs: 10_000, silentMs: 200 };

const makePool = (shares: boolean, starter: () => ComputeWorker = start, waits = patience): CpuPool => {
  const pool: CpuPool = new Pool(starter, shares, waits);
  pools.push(pool);
  return pool;
};

const inputOf = (n: number, scalars: 'random' | 'one-bucket-and-noise' = 'random') => {
  const made = makeCase({ points: 'distinct', scalars, n, seed: 8 });
  return {
    source: { bytes: made.points.bytes, scale: 1n, encoding: 'le' as const },
    vector: { ...survey(curve, made.scalars.bytes, NO_TABLES, true), offset: 0 },
    expected: made.expected,
  };
};

/** A sum large enough for three workers. */
const large = inputOf(8192);
/** One in which a bucket has most of the points. */
const hot = inputOf(3000, 'one-bucket-and-noise');

const multiply = (threads: Partial<Threads>, { source, vector } = large, checkpoint = () => {}) =>
  multiplyOnCpu(curve, source, [vector], checkpoint, {
    // the slowest arithmetic: the sum takes longer than the start of a worker
    ...{ pool: null, workers: 2, distribution: 'dynamic', chunk: null, arithmetic: 'wasm' },
    ...threads,
  });

/** A worker with another script. */
const actor = (text: string): Worker =>
  new Worker(`const { parentPort } = require('node:worker_threads');${text}`, { eval: true });

const saysReady = "parentPort.postMessage({ say: 'ready' });";

describe.each([true, false])('a pool, with shared memory: %s', (shares) => {
  test.each(['dynamic', 'static'] as const)('%s distribution gives the right sum', async (distribution) => {
    const pool = makePool(shares);
    expect(pool.size).toBe(0);
    for (const chunk of [1, 16, 256, null]) {
      for (const input of [large, hot]) {
        const { sums, lost } = await multiply({ pool, distribution, chunk }, input);
        expect(lost).toBeNull();
        expect(sums).toEqual([input.expected]);
      }
    }
    // all workers are ready by now
    const { sums, workers } = await multiply({ pool, distribution });
    expect(sums).toEqual([large.expected]);
    expect(workers).toBe(2);
    expect(pool.size).toBe(2);
  });

  test('at most `allowed` workers take part, and waiting ones continue at the end', async () => {
    const pool = makePool(shares);
    await multiply({ pool });
    for (const [title, allowed, least, most] of [
      ['none', () => 0, 0, 0],
      ['one', () => 1, 1, 1],
      ['all', () => 2, 2, 2],
      // changing: no worker waits when all chunks are taken
      ['now and then', (asked: number) => [2, 0, 1, 0][asked % 4] as number, 1, 2],
    ] as const) {
      let asked = 0;
      const { sums, workers, lost } = await multiply({ pool, chunk: 1, allowed: () => allowed(asked++) });
      expect(sums, title).toEqual([large.expected]);
      expect(lost, title).toBeNull();
      expect(workers, title).toBeGreaterThanOrEqual(least);
      expect(workers, title).toBeLessThanOrEqual(most);
      // asked again after each chunk of the own thread
      expect(asked, title).toBeGreaterThan(4);
    }
  });

  test('several vectors and a short one give right sums', async () => {
    const pool = makePool(shares);
    const vectors = [large.vector, { ...large.vector, offset: 0 }];
    const short = inputOf(50);
    const checkpoint = () => {};
    const threads = { pool, workers: 2, distribution: 'dynamic', chunk: 3 } as const;
    const { sums } = await multiplyOnCpu(curve, large.source, vectors, checkpoint, threads);
    expect(sums).toEqual([large.expected, large.expected]);
    expect((await multiply({ pool }, short)).sums).toEqual([short.expected]);
  });

  test('the chunks of a worker that dies or stays silent are computed again', {
    tags: shares ? [] : 'long',
    timeout: 60_000,
  }, async () => {
    for (const [name, starter, why] of [
      ['terminated', () => start(), /worker \d+ ended/],
      ['throws', () => actor(`${saysReady}parentPort.on('message', () => { throw new Error('no more') });`), /no more/],
      [
        'fails',
        () =>
          actor(
            `${saysReady}parentPort.on('message', () => parentPort.postMessage({ say: 'failed', why: 'because' }));`,
          ),
        /failed: because/,
      ],
      ['silent', () => actor(`${saysReady}parentPort.on('message', () => {});`), /was not heard of any more/],
      ['ends', () => actor(''), /worker \d+ ended/],
      ['not found', () => new Worker(new URL('file:///nowhere.js')), /died: /],
      [
        'no worker',
        () => {
          throw new Error('forbidden');
        },
        /could not be started: Error: forbidden/,
      ],
    ] as const) {
      // with `static` a silent worker is given 20 times the share of the own thread
      for (const distribution of name === 'silent' ? (['dynamic'] as const) : (['dynamic', 'static'] as const)) {
        const started: Worker[] = [];
        const pool = makePool(shares, () => {
          const worker = starter();
          started.push(worker);
          return worker;
        });
        if (name === 'terminated') await multiply({ pool, workers: 1 });
        const call = multiply({ pool, workers: 1, chunk: 4, distribution });
        if (name === 'terminated') void sleep(5).then(() => started[0]?.terminate());
        const { sums, workers, lost } = await call;
        const what = `${name}, ${distribution}`;
        expect(sums, what).toEqual([large.expected]);
        if (lost === null) {
          // the sum was complete before the worker started, or before its end
          expect(distribution === 'dynamic' || name === 'terminated', what).toBe(true);
        } else {
          expect(lost, what).toMatch(why);
          expect(workers, what).toBe(0);
        }
        const next = await multiply({ pool, workers: 1 }, hot);
        expect(next.sums, what).toEqual([hot.expected]);
      }
    }
  });

  test('after two deaths in a row no more workers are started', async () => {
    let started = 0;
    const pool = makePool(shares, () => {
      started++;
      return actor(`${saysReady}parentPort.on('message', () => { throw new Error('no more') });`);
    });
    for (let i = 0; i < 4; i++) expect((await multiply({ pool, workers: 1 })).sums).toEqual([large.expected]);
    expect(started).toBe(2);
    expect(pool.isOff).toBe(true);
    expect((await multiply({ pool, workers: 1 })).lost).toBeNull();
  });

  test('an abort ends the workers, and the next call is right', async () => {
    const pool = makePool(shares);
    while ((await multiply({ pool })).workers < 2);
    let isRunning = false;
    const allowed = (): number => {
      isRunning = true;
      return 2;
    };
    const checkpoint = (): void => {
      if (isRunning) throw new Error('enough');
    };
    await expect(multiply({ pool, chunk: 60, allowed }, large, checkpoint)).rejects.toThrow('enough');
    expect(pool.size).toBe(0);
    expect((await multiply({ pool })).sums).toEqual([large.expected]);
  });
});

describe('a pool', () => {
  test('starts no worker for a small sum', async () => {
    const pool = makePool(true);
    const little = inputOf(66);
    for (const workers of [1, 8, 32, 64]) {
      const done = await multiply({ pool, workers }, little);
      expect(done.sums).toEqual([little.expected]);
      expect(done.workers).toBe(0);
    }
    expect(pool.size).toBe(0);
  });

  test('starts for several sums as many workers as for one that is as large', async () => {
    const pool = makePool(true);
    const each = inputOf(2048);
    for (let sum = 0; sum < 4; sum++) {
      const { sums } = await multiply({ pool }, each);
      expect(sums).toEqual([each.expected]);
      if (sum === 0) expect(pool.size).toBe(0);
    }
    expect(pool.size).toBe(2);
    pool.destroy();
    await multiply({ pool }, each);
    expect(pool.size).toBe(0);
  });

  test('runs one round at a time; a second sum is computed on the own thread alone', async () => {
    const pool = makePool(true);
    while ((await multiply({ pool })).workers < 2);
    const [first, second] = await Promise.all([multiply({ pool }), multiply({ pool })]);
    expect(first).toMatchObject({ workers: 2, sums: [large.expected] });
    expect(second).toMatchObject({ workers: 0, sums: [large.expected] });
  });

  test('ends workers that are idle for a while', async () => {
    const pool = makePool(true, start, { idleMs: 1000, silentMs: 3000 });
    await multiply({ pool });
    expect(pool.size).toBe(2);
    await until(() => pool.size === 0);
    expect((await multiply({ pool })).sums).toEqual([large.expected]);
  });

  test('has `maxWorkers` workers, and does not exist for `maxWorkers: 0`', () => {
    const none = new CpuThreads({ maxWorkers: 0 });
    expect(none.of({}).pool).toBeNull();
    const some = new CpuThreads({});
    expect(some.of({ cpuDistribution: 'static', cpuChunk: 5 })).toMatchObject({
      workers: threadsHere() - 1,
      distribution: 'static',
      chunk: 5,
    });
    expect(some.of({}).pool).toBe(some.of({}).pool);
    some.destroy();
  });
});
