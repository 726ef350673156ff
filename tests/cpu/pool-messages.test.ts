/** Pools whose workers share no memory: they ask for chunks by messages. */
import { afterEach, expect, test } from 'vitest';
import type { ComputeWorker } from '../../src/api/calls.js';
import { Pool } from '../../src/threads/pool.js';
import type { FromWorker, ToWorker } from '../../src/threads/serve.js';
import { sleep } from '../support/time.js';

type Chunks = readonly number[];

const pools: Pool<null, Chunks>[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.destroy();
});

/** A fake Web Worker that asks for the next chunk before it adds the one that it has. */
const worker = (): ComputeWorker => {
  let taken: number[] = [];
  let listener: (event: { readonly data: FromWorker<Chunks> }) => void = () => undefined;
  const say = (data: FromWorker<Chunks>): void => void sleep().then(() => listener({ data }));
  return {
    addEventListener: (type: string, listen: typeof listener) => {
      if (type !== 'message') return;
      listener = listen;
      say({ say: 'ready' });
    },
    postMessage: (message: ToWorker<null>) => {
      if (message.say === 'forget') return;
      if (message.say === 'begin') taken = [];
      const { chunk } = message.say === 'more' ? message : (message.assignment as { readonly chunk: number });
      if (chunk === null) return say({ say: 'done', result: taken, chunks: taken.length });
      taken.push(chunk);
      say({ say: 'next' });
    },
    terminate: () => undefined,
  } as ComputeWorker;
};

const CHUNKS = 12;
const everyChunk = Array.from({ length: CHUNKS }, (_, chunk) => chunk);

/** Time that a chunk is said to take. */
const CHUNK_MS = 2;

/** Runs a round of which no chunk lets the event loop run. */
const run = async (pool: Pool<null, Chunks>, chunks: number, workers: number, measures = false) => {
  const own: number[] = [];
  let turns = 0;
  const { results, measured } = await pool.run(
    {
      ...{ setup: null, task: null, chunks, distribution: 'dynamic', checkpoint: async () => undefined },
      ...{ measures, now: () => CHUNK_MS * own.length },
      own: () => ({
        add: async (chunk) => {
          own.push(chunk);
          return CHUNK_MS;
        },
        get work() {
          return own.length;
        },
        settle: async () => own,
      }),
      turn: async () => {
        turns++;
        await sleep();
      },
    },
    workers,
  );
  return { turns, own, measured, all: results.flat().toSorted((a, b) => a - b) };
};

const makePool = (): Pool<null, Chunks> => {
  const pool: Pool<null, Chunks> = new Pool(worker, false, { idleMs: 10_000, silentMs: 1000 });
  pools.push(pool);
  return pool;
};

test('a worker is heard while the own thread computes', async () => {
  const pool = makePool();
  // in the first round the worker starts
  for (const _ of [0, 1]) {
    const { own, all } = await run(pool, CHUNKS, 1);
    expect(all).toEqual(everyChunk);
    // a worker that is not heard has its first chunk alone
    expect(own.length).toBeLessThan(CHUNKS - 1);
  }
});

test('the own thread takes no turns for workers that take no part', async () => {
  const pool = makePool();
  expect(await run(pool, CHUNKS, 0)).toMatchObject({ turns: 0, own: everyChunk, all: everyChunk });
});

test('a round that measures computes two chunks alone, once its workers have run a round', async () => {
  const pool = makePool();
  const first = await run(pool, CHUNKS, 1, true);
  expect(first.measured).toBeNull();
  const { own, all, measured } = await run(pool, CHUNKS, 1, true);
  expect(all).toEqual(everyChunk);
  expect(own.slice(0, 2)).toEqual([0, 1]);
  // a chunk is a unit of work, and the clock goes on with the own thread's chunks
  expect(measured).toEqual({ aloneRate: 1 / CHUNK_MS, aloneWork: 2, togetherMs: CHUNK_MS * (own.length - 2) });
  const { measured: unwanted } = await run(pool, CHUNKS, 1);
  expect(unwanted).toBeNull();
});

test('a pool whose rounds take longer with its worker soon has none for them', () => {
  const pool = makePool();
  const measure = (togetherMs: number) => ({ aloneRate: 1, aloneWork: 0, togetherMs });
  for (let round = 0; round < 3; round++) {
    expect(pool.choose(1000, 1)).toEqual({ workers: 1, measures: true });
    // 1,000 units of work take the own thread 1,000 ms
    pool.note(measure(1500), 1, 1000, 1000);
  }
  expect(pool.choose(1000, 1).workers).toBe(0);
  // rounds of other sizes are measured apart
  expect(pool.choose(100_000, 1).workers).toBe(1);
  // a clock that stands still says nothing
  for (let round = 0; round < 3; round++) pool.note(measure(0), 1, 100_000, 100_000);
  expect(pool.choose(100_000, 1).workers).toBe(1);
});
