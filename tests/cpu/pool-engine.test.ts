/**
 * Engines whose workers are in the middle of a call, in Node: the call is aborted, or the engine
 * destroyed.
 */
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { Bases, MsmEngine } from '../../src/index.js';
import { workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import { useAllWorkers } from '../support/all-workers.js';
import { openEngine } from '../support/engines.js';
import { cpuRunOf } from '../support/runs.js';
import { sleep, until } from '../support/time.js';

useAllWorkers();

const large = makeCase({ points: 'distinct', scalars: 'random', n: 20_000, seed: 12 });

/** Attempts to end a call, of which one at least comes before its workers are done. */
const ATTEMPTS = 3;

/** Calls, which are all right, until both workers take part: at first they are on their way. */
const callUntilThere = async (engine: MsmEngine, bases: Bases): Promise<void> => {
  do expect(await engine.msm(bases, large.scalars.bytes)).toEqual(large.expected);
  while (cpuRunOf(engine).workers < 2);
};

/** An engine, and the workers that it starts. */
const open = async () => {
  const start = workerStarter() as () => Worker;
  const started: Worker[] = [];
  const messages = { sent: 0, received: 0 };
  const createWorker = (): Worker => {
    const worker = start();
    started.push(worker);
    worker.on('message', () => messages.received++);
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (...message) => {
      messages.sent++;
      post(...message);
    };
    return worker;
  };
  const engine = await openEngine({ backend: 'cpu', maxWorkers: 2, createWorker });
  return { engine, bases: await engine.loadBases(large.points.bytes), started, messages };
};

/**
 * Ends a call as soon as its workers have their task, which it prepares in turns before.
 *
 * @returns the number of messages of workers until it rejects
 */
const receivedUntilEnded = async (
  begin: () => Promise<unknown>,
  messages: { readonly sent: number; readonly received: number },
  code: string,
  end: () => void,
): Promise<number> => {
  const { sent } = messages;
  const ended = expect(begin()).rejects.toMatchObject({ code });
  await until(() => messages.sent > sent);
  const { received } = messages;
  end();
  await ended;
  return messages.received - received;
};

/** The number of Node's thread; −1 once it has ended. */
const threadsOf = (workers: readonly Worker[]): number[] => workers.map(({ threadId }) => threadId);

test('workers start with the load of points that are enough for them, and not for fewer', async () => {
  const { engine, started } = await open();
  expect(started).toHaveLength(2);
  engine.destroy();
  const few = await openEngine({ backend: 'cpu', maxWorkers: 2, createWorker: () => expect.unreachable() });
  await few.loadBases(large.points.bytes.subarray(0, 64 * 512));
});

test('an abort ends the call and its workers at once; the next call is right, with workers', async () => {
  const { engine, bases, started, messages } = await open();
  await callUntilThere(engine, bases);
  expect(messages.received).toBeGreaterThan(0);
  const received: number[] = [];
  for (let i = 0; i < ATTEMPTS; i++) {
    const controller = new AbortController();
    const begin = () => engine.msm(bases, large.scalars.bytes, { signal: controller.signal });
    received.push(await receivedUntilEnded(begin, messages, 'aborted', () => controller.abort()));
    const before = [...started];
    await callUntilThere(engine, bases);
    expect(engine.lastRun?.retried).toBeNull();
    expect(threadsOf(before)).toEqual(before.map(() => -1));
  }
  // a worker that computed to the end would say so
  expect(received).toContain(0);
});

test('destroying an engine ends its call and its workers at once; it starts no others', async () => {
  const received: number[] = [];
  for (let i = 0; i < ATTEMPTS; i++) {
    const { engine, bases, started, messages } = await open();
    await callUntilThere(engine, bases);
    const count = started.length;
    const begin = () => engine.msm(bases, large.scalars.bytes);
    received.push(await receivedUntilEnded(begin, messages, 'destroyed', () => engine.destroy()));
    await expect.poll(() => threadsOf(started)).toEqual(started.map(() => -1));
    expect(started.length).toBe(count);
  }
  expect(received).toContain(0);
});

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
