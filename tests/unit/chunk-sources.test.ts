/**
 * Ways to hand out chunks: each chunk goes to exactly one thread, and those of lost workers are
 * known.
 */
import { describe, expect, test } from 'vitest';
import {
  type Assignment,
  ByMessages,
  type ChunkSource,
  chunkSource,
  chunksByCounter,
  chunksByMessages,
  chunksOfShare,
  SharedCounter,
  SharedMemory,
  StaticShares,
} from '../../src/threads/chunks.js';

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const sorted = (chunks: readonly number[]): number[] => [...chunks].sort((a, b) => a - b);

/** Takes one more chunk for a worker, as its thread would; null if none is left. */
const takerOf = (source: ChunkSource, worker: number, assignment: Assignment | null): (() => number | null) => {
  if (assignment === null) return () => null;
  if (assignment.by !== 'message') {
    const chunks = assignment.by === 'counter' ? chunksByCounter(assignment) : chunksOfShare(assignment);
    return () => chunks.next().value ?? null;
  }
  let first: number | null = assignment.chunk;
  return () => {
    const chunk = first ?? source.take(worker);
    first = null;
    return chunk;
  };
};

describe.each([
  ['static contiguous', (chunks: number) => new StaticShares(chunks, 3), 3],
  ['static strided', (chunks: number) => new StaticShares(chunks, 3), 10],
  ['by messages', (chunks: number) => new ByMessages(chunks), 10],
  ['by a shared counter', (chunks: number) => new SharedCounter(chunks, new SharedMemory()), 10],
] as const)('%s', (_, make, chunks) => {
  test('each chunk is handed out once, in turns of three threads', () => {
    const source: ChunkSource = make(chunks);
    source.permit(2);
    const takers = [1, 2].map((worker) => takerOf(source, worker, source.assign(worker, worker)));
    const taken: number[][] = [[], [], []];
    for (let open = true; open; ) {
      open = false;
      for (const [thread, take] of [() => source.takeOwn(), ...takers].entries()) {
        const chunk = take();
        if (chunk === null) continue;
        (taken[thread] as number[]).push(chunk);
        open = true;
      }
    }
    expect(sorted(taken.flat())).toEqual(range(chunks));
    for (const worker of [1, 2]) expect(sorted(source.takenBy(worker))).toEqual(sorted(taken[worker] as number[]));
    expect(source.takenBy(3)).toEqual([]);
    expect(source.takeRest()).toEqual([]);
    expect(source.assign(3, 3)).toBeNull();
  });

  test('chunks that no worker took are taken at the end, and by no worker afterwards', () => {
    const source: ChunkSource = make(chunks);
    const own: number[] = [];
    for (let chunk = source.takeOwn(); chunk !== null; chunk = source.takeOwn()) own.push(chunk);
    expect(sorted([...own, ...source.takeRest()])).toEqual(range(chunks));
    expect(source.assign(1, 1)).toBeNull();
    expect(source.takeRest()).toEqual([]);
  });
});

test('the strided chunks of a thread are as many apart as there are threads', () => {
  const source = new StaticShares(8, 3);
  const share = source.assign(7);
  expect(share && [...chunksOfShare(share)]).toEqual([1, 4, 7]);
  expect([source.takeOwn(), source.takeOwn(), source.takeOwn(), source.takeOwn()]).toEqual([0, 3, 6, null]);
  // the second worker did not come
  expect(source.takeRest()).toEqual([2, 5]);
});

test('a chunk counted by a worker that died before it could mark it is taken at the end', () => {
  const source = new SharedCounter(4, new SharedMemory());
  const { state } = source.assign(1, 1) as { readonly state: Int32Array };
  expect(source.takeOwn()).toBe(0);
  Atomics.add(state, 0, 1);
  expect([source.takeOwn(), source.takeOwn(), source.takeOwn()]).toEqual([2, 3, null]);
  expect(source.takeRest()).toEqual([1]);
});

test('a worker asks for its next chunk before it computes one', async () => {
  const log: string[] = [];
  const answers = [5, null];
  for await (const chunk of chunksByMessages(2, async () => {
    log.push('ask');
    return answers.shift() as number | null;
  })) {
    log.push(`chunk ${chunk}`);
  }
  expect(log).toEqual(['ask', 'chunk 2', 'ask', 'chunk 5']);
});

test('the source is chosen by distribution and by whether memory can be shared', () => {
  expect(chunkSource('static', 3, 3, new SharedMemory())).toBeInstanceOf(StaticShares);
  expect(chunkSource('dynamic', 3, 3, null)).toBeInstanceOf(ByMessages);
  expect(chunkSource('dynamic', 3, 3, new SharedMemory())).toBeInstanceOf(SharedCounter);
});
