/**
 * Hands out the chunks of one round to threads. There is one class for each way: a counter in
 * shared memory, messages where a page cannot share memory, and equal shares.
 */

/** The chunks from `chunk` to `end`, exclusive, in steps of `step`. */
interface ShareOfChunks {
  readonly by: 'share';
  readonly chunk: number;
  readonly step: number;
  readonly end: number;
}

/** Assignment of a worker that takes its chunks from the counter. */
interface CounterChunks {
  readonly by: 'counter';
  /** Words of the counter; `SharedCounter` says which. */
  readonly state: Int32Array;
  readonly worker: number;
  readonly rank: number;
}

/** Chunks that a worker begins a round with, and how it gets further ones. */
export type Assignment =
  /** All chunks of the worker. */
  | ShareOfChunks
  /** One chunk; the worker asks for each further one with a message. */
  | { readonly by: 'message'; readonly chunk: number }
  /** The worker takes all its chunks from a counter in shared memory. */
  | CounterChunks;

/** The chunks of one round, numbered from 0. Used on the thread that runs the round. */
export interface ChunkSource {
  /** True if the chunks of each thread are fixed in advance. Then no worker can be held back. */
  readonly isStatic: boolean;

  /** True if workers ask for chunks by messages, which the own thread has to hear. */
  readonly isByMessages: boolean;

  /** Takes a chunk for the caller's own thread; null if none is left. */
  takeOwn(): number | null;

  /**
   * Takes the chunks that a worker begins with.
   *
   * @param worker its number, from 1
   * @param rank its position in the list of workers, from 1
   * @returns null if no chunk is left
   */
  assign(worker: number, rank: number): Assignment | null;

  /** Takes a chunk for a worker that asked by message; null if none is left. */
  take(worker: number): number | null;

  /** Permits the workers of rank 1 to `workers` to take chunks; the others wait. */
  permit(workers: number): void;

  /** Returns the chunks that a worker took since it was assigned any. */
  takenBy(worker: number): readonly number[];

  /** Takes all chunks that are left, for the own thread, once every worker is done or lost. */
  takeRest(): readonly number[];
}

/** More workers than any pool has. */
export const ALL_WORKERS = 2 ** 31 - 1;

/* Chooses how the chunks of a round are handed out. */

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

/* Dynamic distribution by a counter in shared memory: threads take chunks without messages. */

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

/* Dynamic distribution by messages, for pages that cannot share memory with workers. */

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

/* Static distribution: the chunks of each thread are fixed in advance. */

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

/** Chunks that workers took, by the number of the worker, for sources without shared memory. */
class TakenChunks {
  readonly #taken = new Map<number, number[]>();

  /** Records the first chunk of an assignment. */
  begin(worker: number, chunk: number): void {
    this.#taken.set(worker, [chunk]);
  }

  add(worker: number, chunk: number): void {
    this.#taken.get(worker)?.push(chunk);
  }

  of(worker: number): readonly number[] {
    return this.#taken.get(worker) ?? [];
  }
}

/**
 * Shared memory that is allocated once and reused: a worker keeps the buffer of a message until it
 * collects its garbage, which it rarely does.
 */
export class SharedMemory {
  #buffer: SharedArrayBuffer | null = null;

  /** Returns `words` uninitialised words; invalidates the words returned before. */
  take(words: number): Uint32Array<SharedArrayBuffer> {
    const bytes = words * Uint32Array.BYTES_PER_ELEMENT;
    // sizes are powers of two: all outgrown buffers together are no larger than the current one
    if (this.#buffer === null || this.#buffer.byteLength < bytes)
      this.#buffer = new SharedArrayBuffer(2 ** Math.ceil(Math.log2(bytes)));
    return new Uint32Array(this.#buffer, 0, words);
  }

  /** Drops the buffer, which may be secret or still be written to: the next `take` allocates. */
  drop(): void {
    this.#buffer = null;
  }
}
