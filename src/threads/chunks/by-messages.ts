/** Dynamic distribution by messages, for pages that cannot share memory with workers. */
import type { Assignment, ChunkSource } from './chunk-source.js';
import { TakenChunks } from './taken-chunks.js';

/** A thread that is done takes the next chunk; a worker asks the caller's own thread for it. */
export class ByMessages implements ChunkSource {
  readonly isByMessages = true;
  readonly isStatic = false;
  readonly #chunks: number;
  readonly #taken = new TakenChunks();
  #next = 0;

  constructor(chunks: number) {
    this.#chunks = chunks;
  }

  takeOwn(): number | null {
    return this.#next < this.#chunks ? this.#next++ : null;
  }

  assign(worker: number): Assignment | null {
    const chunk = this.takeOwn();
    if (chunk === null) return null;
    this.#taken.begin(worker, chunk);
    return { by: 'message', chunk };
  }

  take(worker: number): number | null {
    const chunk = this.takeOwn();
    if (chunk !== null) this.#taken.add(worker, chunk);
    return chunk;
  }

  permit(): void {
    // a worker that is not permitted gets no answer
  }

  takenBy(worker: number): readonly number[] {
    return this.#taken.of(worker);
  }

  takeRest(): readonly number[] {
    // the own thread takes chunks until none is left
    return [];
  }
}

/**
 * Yields the chunks of an assignment in a worker.
 *
 * @param ask asks for the next chunk; called before a chunk is computed, so that the answer is
 *   there when the chunk is done
 */
export async function* chunksByMessages(first: number, ask: () => Promise<number | null>): AsyncGenerator<number> {
  for (let chunk: number | null = first; chunk !== null; ) {
    const next = ask();
    yield chunk;
    chunk = await next;
  }
}
