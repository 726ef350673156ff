/** Memory that many rounds of a work leave. */
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import { sleep } from './time.js';

/** Live objects, and bytes of the heap, of buffers and outside, without garbage. */
const settled = async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // finalisers run between collections, and what they let go of falls to the next one
  for (let i = 0; i < 4; i++) {
    gc();
    await sleep(20);
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return { objects: queryObjects(Object, { format: 'count' }), heapUsed, buffers: external + arrayBuffers };
};

/** Runs rounds, and expects that the second half of them leaves neither objects nor bytes. */
export const expectFlat = async (rounds: number, round: (i: number) => Promise<void>): Promise<void> => {
  let before: Awaited<ReturnType<typeof settled>> | null = null;
  for (let i = 1; i <= rounds; i++) {
    await round(i);
    if (i === rounds / 2) before = await settled();
  }
  const after = await settled();
  if (before === null) throw new Error('nothing was counted');
  // less than an object for each fourth round, and 2,000 bytes for each of V8's own code and feedback
  expect(after.objects - before.objects).toBeLessThan(rounds / 8);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(2000 * (rounds / 2));
  expect(after.buffers - before.buffers).toBeLessThan(1000 * rounds);
};
