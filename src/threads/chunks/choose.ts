/** Chooses how the chunks of a round are handed out. */
import type { SharedMemory } from '../shared-memory.js';
import { ByMessages } from './by-messages.js';
import type { ChunkSource } from './chunk-source.js';
import { SharedCounter } from './shared-counter.js';
import { StaticContiguous } from './static-contiguous.js';

/** `dynamic`: a thread that is done takes the next chunk. `static`: one chunk for each thread. */
export type Distribution = 'dynamic' | 'static';

/** @param memory for the counter; null where workers cannot be given shared memory */
export const chunkSource = (distribution: Distribution, chunks: number, memory: SharedMemory | null): ChunkSource => {
  if (distribution === 'static') return new StaticContiguous(chunks);
  return memory === null ? new ByMessages(chunks) : new SharedCounter(chunks, memory);
};
