/**
 * Engines whose workers are in the middle of a call, in Node: the call is aborted, or the engine
 * destroyed.
 */
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { type Bases, createMsmEngine, type MsmEngine } from '../../src/index.js';
import { workerStarter } from '../../src/msm/cpu/start-worker.js';
import { msOf, sleep } from '../support/time.js';

const large = makeCase({ points: 'distinct', scalars: 'random', n: 20_000, seed: 12 });

/** Attempts to end a call. The quickest ends before half of the time that a whole call takes. */
const ATTEMPTS = 3;

/** Calls, which are all right, until both workers take part: at first they are on their way. */
const callUntilThere = async (engine: MsmEngine, bases: Bases): Promise<void> => {
  do expect(await engine.msm(bases, large.scalars.bytes)).toEqual(large.expected);
  while ((engine.lastRun?.workers ?? 0) < 2);
};

/** An engine, and the workers that it starts. */
const open = async () => {
  const start = workerStarter() as () => Worker;
  const started: Worker[] = [];
  const createWorker = (): Worker => {
    const worker = start();
    started.push(worker);
    return worker;
  };
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 2, createWorker });
  return { engine, bases: await engine.loadBases(large.points.bytes), started };
};

/** Ends a call that is under way, and says how long it went on. */
const endedAfter = async (call: Promise<unknown>, code: string, end: () => void): Promise<number> => {
  const ended = call.then(
    () => Number.NaN,
    (error) => {
      expect(error).toMatchObject({ code });
      return performance.now();
    },
  );
  await sleep(30);
  const at = performance.now();
  end();
  return (await ended) - at;
};

/** The number of Node's thread; −1 once it has ended. */
const threadsOf = (workers: readonly Worker[]): number[] => workers.map(({ threadId }) => threadId);

test('an abort ends the call and its workers at once; the next call is right, with workers', async () => {
  const { engine, bases, started } = await open();
  await callUntilThere(engine, bases);
  const wholeMs = await msOf(() => engine.msm(bases, large.scalars.bytes));
  const took: number[] = [];
  for (let i = 0; i < ATTEMPTS; i++) {
    const controller = new AbortController();
    const call = engine.msm(bases, large.scalars.bytes, { signal: controller.signal });
    took.push(await endedAfter(call, 'aborted', () => controller.abort()));
    const before = [...started];
    await callUntilThere(engine, bases);
    expect(engine.lastRun?.retried).toBeNull();
    expect(threadsOf(before)).toEqual(before.map(() => -1));
  }
  expect(took).not.toContain(Number.NaN);
  expect(Math.min(...took)).toBeLessThan(wholeMs / 2);
  engine.destroy();
}, 60_000);

test('destroying an engine ends its call and its workers at once; it starts no others', async () => {
  const took: number[] = [];
  let wholeMs = 0;
  for (let i = 0; i < ATTEMPTS; i++) {
    const { engine, bases, started } = await open();
    await callUntilThere(engine, bases);
    wholeMs = Math.max(wholeMs, await msOf(() => engine.msm(bases, large.scalars.bytes)));
    const count = started.length;
    const call = engine.msm(bases, large.scalars.bytes);
    took.push(await endedAfter(call, 'destroyed', () => engine.destroy()));
    await expect.poll(() => threadsOf(started)).toEqual(started.map(() => -1));
    expect(started.length).toBe(count);
  }
  expect(took).not.toContain(Number.NaN);
  expect(Math.min(...took)).toBeLessThan(wholeMs / 2);
}, 60_000);

test('an engine that is destroyed before its first call starts no worker', async () => {
  for (const afterMs of [0, 2, 4, 8]) {
    const { engine, bases, started } = await open();
    const call = engine.msm(bases, large.scalars.bytes);
    await sleep(afterMs);
    engine.destroy();
    const count = started.length;
    await expect(call).rejects.toMatchObject({ code: 'destroyed' });
    await expect.poll(() => threadsOf(started)).toEqual(started.map(() => -1));
    expect(started.length).toBe(count);
  }
});
