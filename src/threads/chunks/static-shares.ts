/** Static distribution: the chunks of each thread are fixed in advance. */
import type { ChunkSource, ShareOfChunks } from './chunk-source.js';
import { TakenChunks } from './taken-chunks.js';

/** Yields the chunks of a share. */
export function* chunksOfShare({ chunk, step, end }: ShareOfChunks): Generator<number> {
  for (let next = chunk; next < end; next += step) yield next;
}

/**
 * Gives thread t of T the chunks t, t + T, t + 2T and so on; thread 0 is the caller's own, the
 * others are the workers in their order. As many chunks as threads are one contiguous range each;
 * more chunks are strided.
 */
export class StaticShares implements ChunkSource {
  readonly isByMessages = false;
  readonly isStatic = true;
  readonly #chunks: number;
  readonly #threads: number;
  readonly #taken = new TakenChunks();
  readonly #own: Iterator<number>;
  /** The next share that no thread has. */
  #next = 1;

  constructor(chunks: number, threads: number) {
    this.#chunks = chunks;
    this.#threads = threads;
    this.#own = chunksOfShare(this.#share(0));
  }

  takeOwn(): number | null {
    return this.#own.next().value ?? null;
  }

  assign(worker: number): ShareOfChunks | null {
    if (this.#next >= Math.min(this.#threads, this.#chunks)) return null;
    const share = this.#share(this.#next++);
    const [first = share.chunk, ...others] = chunksOfShare(share);
    this.#taken.begin(worker, first);
    for (const chunk of others) this.#taken.add(worker, chunk);
    return share;
  }

  take(): null {
    return null;
  }

  permit(): void {
    // each worker has its chunks from the beginning
  }

  takenBy(worker: number): readonly number[] {
    return this.#taken.of(worker);
  }

  takeRest(): readonly number[] {
    const rest: number[] = [];
    for (; this.#next < this.#threads; this.#next++) rest.push(...chunksOfShare(this.#share(this.#next)));
    return rest;
  }

  #share(thread: number): ShareOfChunks {
    return { by: 'share', chunk: thread, step: this.#threads, end: this.#chunks };
  }
}
