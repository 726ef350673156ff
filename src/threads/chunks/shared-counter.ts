/** Dynamic distribution by a counter in shared memory: threads take chunks without messages. */
import type { SharedMemory } from '../shared-memory.js';
import { ALL_WORKERS, type ChunkSource, type CounterChunks } from './chunk-source.js';

/** Index of the word with the next chunk. */
const NEXT = 0;

/** Index of the word with the number of workers that may take chunks. */
const PERMITTED = 1;

/** Index of the first taker: the number of the worker that took the chunk, or 0. */
const TAKERS = 2;

/** Taker of the chunks of the caller's own thread; no worker has this number. */
const OWN = -1;

const chunksOf = (state: Int32Array): number => state.length - TAKERS;

const takeFrom = (state: Int32Array, taker: number): number | null => {
  const chunk = Atomics.add(state, NEXT, 1);
  if (chunk >= chunksOf(state)) return null;
  Atomics.store(state, TAKERS + chunk, taker);
  return chunk;
};

/** A thread that is done takes the next chunk by an atomic addition. */
export class SharedCounter implements ChunkSource {
  readonly isByMessages = false;
  readonly isStatic = false;
  readonly #state: Int32Array;

  constructor(chunks: number, memory: SharedMemory) {
    const { buffer, length } = memory.take(TAKERS + chunks);
    this.#state = new Int32Array(buffer, 0, length).fill(0);
  }

  takeOwn(): number | null {
    return takeFrom(this.#state, OWN);
  }

  assign(worker: number, rank: number): CounterChunks | null {
    const isLeft = Atomics.load(this.#state, NEXT) < chunksOf(this.#state);
    return isLeft ? { by: 'counter', state: this.#state, worker, rank } : null;
  }

  take(worker: number): number | null {
    return takeFrom(this.#state, worker);
  }

  permit(workers: number): void {
    Atomics.store(this.#state, PERMITTED, Math.min(workers, ALL_WORKERS));
    Atomics.notify(this.#state, PERMITTED);
  }

  takenBy(worker: number): readonly number[] {
    return this.#takenBy(worker);
  }

  /** Returns the chunks of workers that died between the addition and the mark of a chunk. */
  takeRest(): readonly number[] {
    return this.#takenBy(0);
  }

  #takenBy(taker: number): number[] {
    const chunks = Array.from({ length: chunksOf(this.#state) }, (_, chunk) => chunk);
    return chunks.filter((chunk) => Atomics.load(this.#state, TAKERS + chunk) === taker);
  }
}

/** Yields the chunks of an assignment in a worker, whose thread it blocks until it is permitted. */
export function* chunksByCounter({ state, worker, rank }: CounterChunks): Generator<number> {
  for (;;) {
    let permitted = Atomics.load(state, PERMITTED);
    while (permitted < rank) {
      Atomics.wait(state, PERMITTED, permitted);
      permitted = Atomics.load(state, PERMITTED);
    }
    const chunk = takeFrom(state, worker);
    if (chunk === null) return;
    yield chunk;
  }
}
