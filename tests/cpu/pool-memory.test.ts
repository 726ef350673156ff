/** Shared memory of a pool: reused by the next round unless a worker may still use it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { ComputeWorker } from '../../src/api/calls.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { multiplyOnCpu } from '../../src/msm/cpu/cpu-backend.js';
import { type CpuPool, workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import type { RoundTask, WindowSums } from '../../src/msm/cpu/share.js';
import { NO_TABLES, survey } from '../../src/msm/plan/workload.js';
import { Pool } from '../../src/threads/pool.js';
import type { Begin, FromWorker, ToWorker } from '../../src/threads/serve.js';
import { useAllWorkers } from '../support/all-workers.js';
import { sleep } from '../support/time.js';

useAllWorkers();

const curve = curveContext(bn254);

/** A sum large enough for one worker. */
const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 4096, seed: 5 });
const source = { bytes: points.bytes, scale: 1n, encoding: 'le' as const };
const vector = { ...survey(curve, scalars.bytes, NO_TABLES, true), offset: 0 };

const pools: CpuPool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.destroy();
});

const makePool = (start: () => ComputeWorker, shares = true): CpuPool => {
  const pool: CpuPool = new Pool(start, shares, { idleMs: 10_000, silentMs: 50 });
  pools.push(pool);
  return pool;
};

const multiply = async (pool: CpuPool, checkpoint = () => {}): Promise<void> => {
  const threads = { pool, workers: 1, distribution: 'dynamic', chunk: 16 } as const;
  expect((await multiplyOnCpu(curve, source, [vector], checkpoint, threads)).sums).toEqual([expected]);
};

/** A fake Web Worker, which takes no chunk and is done at once or never. */
const actor = (begun: Begin<RoundTask>[], isDone: () => boolean): ComputeWorker => {
  let say: (message: FromWorker<WindowSums>) => void = () => undefined;
  return {
    addEventListener: (type: string, listen: (event: { readonly data: FromWorker<WindowSums> }) => void) => {
      if (type !== 'message') return;
      say = (data) => listen({ data });
      void sleep().then(() => say({ say: 'ready' }));
    },
    postMessage: (message: ToWorker<RoundTask>) => {
      if (message.say !== 'begin') return;
      begun.push(message);
      const result = { windows: new Uint32Array(), points: new Int32Array(), entries: 0 };
      if (isDone()) void sleep().then(() => say({ say: 'done', result, chunks: 0 }));
    },
    terminate: () => undefined,
  } as ComputeWorker;
};

/** Buffers that a worker was given. */
const buffersOf = ({ task, assignment }: Begin<RoundTask>): readonly unknown[] => [
  ...new Set(task.operands.flatMap(({ points, digits }) => [points.buffer, digits.scalars.buffer])),
  assignment.by === 'counter' ? assignment.state.buffer : undefined,
];

test('a round reuses the memory of the round before if all its workers finished', async () => {
  const begun: Begin<RoundTask>[] = [];
  const pool = makePool(() => actor(begun, () => true));
  for (let round = 0; round < 3; round++) await multiply(pool);
  const [first, ...others] = begun.map(buffersOf);
  expect(first).toHaveLength(2);
  expect(others.length).toBeGreaterThan(0);
  for (const other of others) for (const [i, buffer] of other.entries()) expect(buffer).toBe(first?.[i]);
});

test('memory of a worker that was lost or aborted is not reused', async () => {
  const begun: Begin<RoundTask>[] = [];
  let isDone = false;
  const pool = makePool(() => actor(begun, () => isDone));
  await multiply(pool);
  await multiply(pool, () => {
    if (begun.length > 1) throw new Error('enough');
  }).catch((error: Error) => expect(error.message).toBe('enough'));
  isDone = true;
  await multiply(pool);
  expect(begun).toHaveLength(3);
  expect(new Set(begun.flatMap(buffersOf)).size).toBe(6);
});

test('memory is not kept when idle workers are ended', async () => {
  const begun: Begin<RoundTask>[] = [];
  const pool = makePool(() => actor(begun, () => true));
  await multiply(pool);
  pool.destroy();
  await multiply(pool);
  expect(new Set(begun.flatMap(buffersOf)).size).toBe(4);
});

/** Bytes of all buffers after garbage collection, shared ones included. */
const settledBytes = async (): Promise<number> => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let i = 0; i < 3; i++) {
    gc();
    await sleep(10);
  }
  return process.memoryUsage().arrayBuffers;
};

test.each([true, false])(
  'memory does not grow over 50 sums, with shared memory: %s',
  { tags: 'long' },
  async (shares) => {
    const pool = makePool(workerStarter() as () => ComputeWorker, shares);
    for (let i = 0; i < 5; i++) await multiply(pool);
    const before = await settledBytes();
    for (let i = 0; i < 50; i++) await multiply(pool);
    expect(pool.size).toBe(1);
    // the points and digits of 50 sums have 21 MB
    expect((await settledBytes()) - before).toBeLessThan(2e6);
  },
);
