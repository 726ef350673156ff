/** Hands out the chunks of one round to threads. There is one class for each way. */

/** The chunks from `chunk` to `end`, exclusive, in steps of `step`. */
export interface ShareOfChunks {
  readonly by: 'share';
  readonly chunk: number;
  readonly step: number;
  readonly end: number;
}

/** Assignment of a worker that takes its chunks from the counter. */
export interface CounterChunks {
  readonly by: 'counter';
  /** Words of the counter; shared-counter.ts says which. */
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
