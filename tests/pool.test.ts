/** Workers, of Node's: rounds that they compute together, chunks that are drawn in every way, workers that die, and calls that end early. */
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCase } from '../dev/cases/msm-case.js';
import type { ComputeWorker } from '../src/api/sharing.js';
import { bn254 } from '../src/curves/bn254.js';
import { curveContext } from '../src/curves/curve.js';
import { multiplyOnCpu } from '../src/msm/cpu/multiply.js';
import { workerStarter } from '../src/msm/cpu/start-worker.js';
import { type CpuPool, CpuThreads, type Threads } from '../src/msm/cpu/threads.js';
import { survey } from '../src/msm/plan/survey.js';
import { NO_TABLES } from '../src/msm/plan/workload.js';
import { threadsHere } from '../src/threads/platform.js';
import { Pool, type PoolTimeouts } from '../src/threads/pool.js';

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

/** Work for three workers. */
const large = inputOf(8192);

const multiply = (threads: Partial<Threads>, { source, vector } = large, checkpoint = () => {}) =>
  multiplyOnCpu(curve, source, [vector], checkpoint, {
    ...{ pool: null, workers: 2, distribution: 'dynamic', chunk: null },
    ...threads,
  });

/** A worker of another text. */
const actor = (text: string): Worker =>
  new Worker(`const { parentPort } = require('node:worker_threads');${text}`, { eval: true });

const saysReady = "parentPort.postMessage({ say: 'ready' });";

describe.each([true, false])('chunks are drawn, with shared memory: %s', (shares) => {
  test.each(['dynamic', 'static'] as const)('%s', async (distribution) => {
    const pool = makePool(shares);
    expect(pool.size).toBe(0);
    for (const chunk of [1, 16, 256, null]) {
      for (const scalars of ['random', 'one-bucket-and-noise'] as const) {
        const input = scalars === 'random' ? large : inputOf(3000, scalars);
        const { sums, lost } = await multiply({ pool, distribution, chunk }, input);
        expect(lost).toBeNull();
        expect(sums).toEqual([input.expected]);
      }
    }
    // by now they are all there
    const { sums, workers } = await multiply({ pool, distribution });
    expect(sums).toEqual([large.expected]);
    expect(workers).toBe(2);
    expect(pool.size).toBe(2);
  });

  test('no more workers are at work than may be, and those that wait go on', async () => {
    const pool = makePool(shares);
    await multiply({ pool });
    for (const [title, allowed, least, most] of [
      ['none', () => 0, 0, 0],
      ['one', () => 1, 1, 1],
      ['all', () => 2, 2, 2],
      // by turns: nobody is left waiting when all chunks are drawn
      ['now and then', (asked: number) => [2, 0, 1, 0][asked % 4] as number, 1, 2],
    ] as const) {
      let asked = 0;
      const { sums, workers, lost } = await multiply({ pool, chunk: 1, allowed: () => allowed(asked++) });
      expect(sums, title).toEqual([large.expected]);
      expect(lost, title).toBeNull();
      expect(workers, title).toBeGreaterThanOrEqual(least);
      expect(workers, title).toBeLessThanOrEqual(most);
      // asked again whenever the own thread has a chunk done
      expect(asked, title).toBeGreaterThan(4);
    }
  });

  test('several vectors, of which some are short', async () => {
    const pool = makePool(shares);
    const vectors = [large.vector, { ...large.vector, offset: 0 }];
    const short = inputOf(50);
    const checkpoint = () => {};
    const threads = { pool, workers: 2, distribution: 'dynamic', chunk: 3 } as const;
    const { sums } = await multiplyOnCpu(curve, large.source, vectors, checkpoint, threads);
    expect(sums).toEqual([large.expected, large.expected]);
    expect((await multiply({ pool }, short)).sums).toEqual([short.expected]);
  });

  test('a worker that is terminated, one that throws and one that is never heard of again: others do its chunks', {
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
      const started: Worker[] = [];
      const pool = makePool(shares, () => {
        const worker = starter();
        started.push(worker);
        return worker;
      });
      if (name === 'terminated') await multiply({ pool, workers: 1 });
      const call = multiply({ pool, workers: 1, chunk: 4 });
      if (name === 'terminated') setTimeout(() => void started[0]?.terminate(), 5);
      const { sums, workers, lost } = await call;
      expect(sums, name).toEqual([large.expected]);
      if (name === 'ends') {
        // it may have ended after all was done
        if (lost !== null) expect(lost, name).toMatch(why);
      } else expect(lost, name).toMatch(why);
      expect(workers, name).toBe(0);
      const next = await multiply({ pool, workers: 1 });
      expect(next.sums, name).toEqual([large.expected]);
    }
  });

  test('after two deaths in a row there are no more workers', async () => {
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

  test('an abort acts within 50 ms, ends the workers, and the next call is right', async () => {
    const pool = makePool(shares);
    while ((await multiply({ pool })).workers < 2);
    let aborted = Number.POSITIVE_INFINITY;
    const checkpoint = (): void => {
      if (performance.now() >= aborted) throw new Error('enough');
    };
    const call = multiply({ pool, chunk: 60 }, large, checkpoint);
    await new Promise((resolve) => setTimeout(resolve, 20));
    aborted = performance.now();
    await expect(call).rejects.toThrow('enough');
    expect(performance.now() - aborted).toBeLessThan(50);
    expect(pool.size).toBe(0);
    expect((await multiply({ pool })).sums).toEqual([large.expected]);
  });
});

describe('a pool', () => {
  test('starts nobody for little', async () => {
    const pool = makePool(true);
    const little = inputOf(66);
    for (const workers of [1, 8, 32, 64]) {
      const done = await multiply({ pool, workers }, little);
      expect(done.sums).toEqual([little.expected]);
      expect(done.workers).toBe(0);
    }
    expect(pool.size).toBe(0);
  });

  test('computes one round at a time, and beside it the own thread alone', async () => {
    const pool = makePool(true);
    while ((await multiply({ pool })).workers < 2);
    const [first, second] = await Promise.all([multiply({ pool }), multiply({ pool })]);
    expect(first).toMatchObject({ workers: 2, sums: [large.expected] });
    expect(second).toMatchObject({ workers: 0, sums: [large.expected] });
  });

  test('lets workers go that had nothing to do for a while', async () => {
    const pool = makePool(true, start, { idleMs: 30, silentMs: 3000 });
    await multiply({ pool });
    expect(pool.size).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(pool.size).toBe(0);
    expect((await multiply({ pool })).sums).toEqual([large.expected]);
  });

  test('of an engine has as many as it is told, and none where it is told so', () => {
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
