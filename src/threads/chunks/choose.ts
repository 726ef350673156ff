/** Chooses how the chunks of a round are handed out. */
import type { SharedMemory } from '../shared-memory.js';
import { ByMessages } from './by-messages.js';
import type { ChunkSource } from './chunk-source.js';
import { SharedCounter } from './shared-counter.js';
import { StaticShares } from './static-shares.js';

/** `dynamic`: a thread that is done takes the next chunk. `static`: equal shares. */
export type Distribution = 'dynamic' | 'static';

/**
 * @param threads the own thread, and the workers of the round
 * @param memory for the counter; null where workers cannot be given shared memory
 */
export const chunkSource = (
  distribution: Distribution,
  chunks: number,
  threads: number,
  memory: SharedMemory | null,
): ChunkSource => {
  if (distribution === 'static') return new StaticShares(chunks, threads);
  return memory === null ? new ByMessages(chunks) : new SharedCounter(chunks, memory);
};
