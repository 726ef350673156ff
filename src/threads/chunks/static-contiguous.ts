/** Static distribution in contiguous ranges: each thread computes one chunk, fixed in advance. */
import type { Assignment, ChunkSource } from './chunk-source.js';
import { TakenChunks } from './taken-chunks.js';

/**
 * One chunk per thread: chunk 0 for the caller's own thread, the others in the order of workers.
 */
export class StaticContiguous implements ChunkSource {
  readonly isStatic = true;
  readonly #chunks: number;
  readonly #taken = new TakenChunks();
  #isOwnTaken = false;
  #next = 1;

  constructor(chunks: number) {
    this.#chunks = chunks;
  }

  takeOwn(): number | null {
    if (this.#isOwnTaken) return null;
    this.#isOwnTaken = true;
    return 0;
  }

  assign(worker: number): Assignment | null {
    if (this.#next >= this.#chunks) return null;
    const chunk = this.#next++;
    this.#taken.begin(worker, chunk);
    return { by: 'share', chunk };
  }

  take(): null {
    return null;
  }

  permit(): void {
    // each worker has its chunk from the beginning
  }

  takenBy(worker: number): readonly number[] {
    return this.#taken.of(worker);
  }

  takeRest(): readonly number[] {
    const rest: number[] = [];
    while (this.#next < this.#chunks) rest.push(this.#next++);
    return rest;
  }
}
