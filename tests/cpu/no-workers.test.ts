/** Workers that cannot be started: the fallback, and the warning where there is none. */
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { ComputeWorker } from '../../src/api/calls.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { createMsmEngine, type MsmEngineOptions } from '../../src/index.js';
import { multiplyOnCpu } from '../../src/msm/cpu/cpu-backend.js';
import { type CpuPool, workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import { NO_TABLES, survey } from '../../src/msm/plan/workload.js';
import type { StartWorker } from '../../src/threads/platform.js';
import { Pool } from '../../src/threads/pool.js';
import { useAllWorkers } from '../support/all-workers.js';
import { openEngine } from '../support/engines.js';
import { cpuRunOf } from '../support/runs.js';

useAllWorkers();

const curve = curveContext(bn254);
const start = workerStarter() as StartWorker;
/** A sum large enough for three workers. */
const large = makeCase({ points: 'distinct', scalars: 'random', n: 8192, seed: 8 });
const small = makeCase({ points: 'distinct', scalars: 'random', n: 16, seed: 9 });

const actor = (text: string): Worker =>
  new Worker(`const { parentPort } = require('node:worker_threads');${text}`, { eval: true });
const throwing = (): ComputeWorker => {
  throw new Error('forbidden');
};

describe('a pool whose workers cannot be started', () => {
  const pools: CpuPool[] = [];
  afterEach(() => {
    vi.restoreAllMocks();
    for (const pool of pools.splice(0)) pool.destroy();
  });

  // workers may take some seconds to start on a busy machine
  const limits = { idleMs: 600_000, silentMs: 600_000, startMs: 600_000 };
  const open = (first: StartWorker, otherwise: (() => Promise<StartWorker>) | null): CpuPool => {
    const pool: CpuPool = new Pool(first, true, limits, otherwise);
    pools.push(pool);
    return pool;
  };

  const multiply = async (pool: CpuPool, distribution: 'dynamic' | 'static', workers = 2) => {
    const source = { bytes: large.points.bytes, scale: 1n, encoding: 'le' as const };
    const vector = { ...survey(curve, large.scalars.bytes, NO_TABLES, true), offset: 0 };
    const done = await multiplyOnCpu(curve, source, [vector], () => {}, { pool, workers, distribution, chunk: 16 });
    expect(done.sums).toEqual([large.expected]);
    return done;
  };

  /** Calls until workers take part, or none is started any more. */
  const callUntilThere = async (pool: CpuPool, distribution: 'dynamic' | 'static' = 'dynamic', workers = 2) => {
    const lost: unknown[] = [];
    for (;;) {
      const done = await multiply(pool, distribution, workers);
      lost.push(...[done.lost, done.noWorkers].filter((why) => why !== null));
      if (done.workers > 0 || pool.isOff) return { workers: done.workers, lost };
    }
  };

  test.each([
    ['cannot be started', throwing],
    ['have no such script', () => new Worker(new URL('file:///nowhere.js'))],
    ['end at once', () => actor('')],
    [
      'say other things',
      () => actor("parentPort.postMessage(null); parentPort.postMessage('ready'); setTimeout(() => {}, 60_000);"),
    ],
  ])('uses the fallback if the first workers %s, and loses nothing', async (what, first) => {
    const now = performance.now.bind(performance);
    let ahead = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
    for (const distribution of ['dynamic', 'static'] as const) {
      const startFirst = (): ComputeWorker => {
        // those that say other things are late as soon as they have said them
        if (what === 'say other things') setTimeout(() => (ahead += 2 * limits.startMs));
        return first();
      };
      const outcome = await callUntilThere(
        open(startFirst, async () => start),
        distribution,
      );
      expect(outcome).toEqual({ workers: expect.toSatisfy((workers) => workers > 0), lost: [] });
    }
  });

  test('reports the reason if the fallback workers die as well', async () => {
    const pool = open(throwing, async () => () => actor("throw new Error('other')"));
    const lost: (string | null)[] = [];
    for (let i = 0; i < 100 && pool.whyOff === null; i++) lost.push((await multiply(pool, 'dynamic', 1)).lost);
    expect(pool.whyOff).toBe('worker 2 died: Error: other');
    expect((await multiply(pool, 'dynamic')).noWorkers).toBe('worker 2 died: Error: other');
    expect(lost.join()).not.toContain('forbidden');
  });

  test('reports why the fallback cannot be loaded', async () => {
    const pool = open(throwing, () => Promise.reject(new Error('offline')));
    await multiply(pool, 'dynamic');
    expect(await multiply(pool, 'dynamic')).toMatchObject({ workers: 0, noWorkers: 'Error: offline' });
  });

  test('does not use the fallback once a worker was ready', async () => {
    const otherwise = vi.fn(async () => start);
    let starts = 0;
    const pool = open(() => (starts++ === 0 ? start() : throwing()), otherwise);
    const { workers } = await callUntilThere(pool, 'dynamic', 1);
    expect(workers).toBe(1);
    for (let i = 0; i < 2; i++) {
      pool.destroy();
      expect((await multiply(pool, 'dynamic', 1)).lost).toBe('a worker could not be started: Error: forbidden');
    }
    expect(pool.whyOff).toBe('a worker could not be started: Error: forbidden');
    expect(otherwise).not.toHaveBeenCalled();
  });
});

describe('an engine whose workers cannot be started', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** `noWorkers` of three large calls and a small one. */
  const calls = async (options: Partial<MsmEngineOptions>) => {
    const engine = await openEngine({ backend: 'cpu', maxWorkers: 2, ...options });
    const reasons: unknown[] = [];
    for (const { points, scalars, expected } of [large, large, large, small]) {
      const bases = await engine.loadBases(points.bytes);
      expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
      reasons.push(cpuRunOf(engine).noWorkers);
    }
    return reasons;
  };
  const why = 'a worker could not be started: Error: forbidden';

  test('has the reason in the record of large calls, and warns once', async () => {
    const onWarning = vi.fn();
    expect(await calls({ createWorker: throwing, onWarning })).toEqual([why, why, why, null]);
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining(`have no workers: ${why}.`)]]);
  });

  test('warns on the console without `onWarning`', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    await calls({ createWorker: throwing });
    expect(warn.mock.calls).toEqual([[expect.stringContaining(why)]]);
  });

  test('continues if `onWarning` throws', async () => {
    const onWarning = vi.fn(throwing);
    expect(await calls({ createWorker: throwing, onWarning })).toEqual([why, why, why, null]);
    expect(onWarning).toHaveBeenCalledOnce();
  });

  test('does not warn if workers take part, or none is permitted', async () => {
    const onWarning = vi.fn();
    expect(await calls({ onWarning })).toEqual([null, null, null, null]);
    expect(await calls({ onWarning, maxWorkers: 0, createWorker: throwing })).toEqual([null, null, null, null]);
    expect(onWarning).not.toHaveBeenCalled();
  });

  test('rejects an `onWarning` that is no function', async () => {
    const refused = createMsmEngine({ curve: 'bn254', backend: 'cpu', onWarning: 5 as never });
    await expect(refused).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'onWarning must be a function, got 5',
    });
  });
});
