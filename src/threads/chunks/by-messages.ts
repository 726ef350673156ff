/** Dynamic distribution by messages, for pages that cannot share memory with workers. */
import type { Assignment, ChunkSource } from './chunk-source.js';
import { TakenChunks } from './taken-chunks.js';

/** Most chunks of a message: a worker is silent while it computes them. */
const MOST_AT_A_TIME = 16;

/**
 * A thread that is done takes the next chunks; a worker asks the caller's own thread for them. The
 * own thread takes one at a time. A worker is sent half of its share of those that are left: few
 * messages, and all threads finish together.
 */
export class ByMessages implements ChunkSource {
  readonly isStatic = false;
  readonly isByMessages = true;
  readonly #chunks: number;
  readonly #threads: number;
  readonly #taken = new TakenChunks();
  #next = 0;

  constructor(chunks: number, threads: number) {
    this.#chunks = chunks;
    this.#threads = threads;
  }

  takeOwn(): number | null {
    return this.#next < this.#chunks ? this.#next++ : null;
  }

  assign(worker: number): Assignment | null {
    const chunks = this.#takeSome();
    if (chunks.length === 0) return null;
    this.#taken.begin(worker, chunks);
    return { by: 'message', chunks };
  }

  take(worker: number): readonly number[] {
    const chunks = this.#takeSome();
    this.#taken.add(worker, chunks);
    return chunks;
  }

  #takeSome(): readonly number[] {
    const left = this.#chunks - this.#next;
    const share = Math.floor(left / (2 * this.#threads));
    const count = Math.min(left, MOST_AT_A_TIME, Math.max(1, share));
    return Array.from({ length: count }, () => this.#next++);
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
 * @param ask asks for the next chunks, none if none is left; called before chunks are computed, so
 *   that the answer is there when they are done
 */
export async function* chunksByMessages(
  first: readonly number[],
  ask: () => Promise<readonly number[]>,
): AsyncGenerator<number> {
  for (let chunks = first; chunks.length > 0; ) {
    const next = ask();
    yield* chunks;
    chunks = await next;
  }
}
