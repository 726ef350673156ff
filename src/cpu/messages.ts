/** What a pool and its workers say to each other. */
import type { Piece, WindowSums } from './share.js';
import type { CompiledKernel } from './wide-adder.js';

/** What all threads of a round need to know: the rows of all pieces, so many a chunk. */
export interface Task {
  readonly pieces: readonly Piece[];
  readonly rowsPerChunk: number;
}

/** A round. It begins with `chunks`; more are drawn from `control`, or asked for where that is null. */
export interface Begin {
  /** Where it is not the one of the round before. */
  readonly kernel: CompiledKernel | null;
  readonly task: Task;
  readonly chunks: readonly number[];
  /** In shared memory: the next chunk, then for each chunk the number of the worker that drew it, or 0. */
  readonly control: Int32Array | null;
  /** Of the worker, from 1. */
  readonly worker: number;
  /** Whether there is nothing beyond `chunks`. */
  readonly isAll: boolean;
}

/** The answer to `next`. */
export interface More {
  /** null: there are no more. */
  readonly chunk: number | null;
}

export type ToWorker = Begin | More;

export type FromWorker =
  | { readonly say: 'ready' }
  /** Which comes before the chunk in hand is computed, so that it need not wait for the answer. */
  | { readonly say: 'next' }
  | { readonly say: 'done'; readonly sums: WindowSums; readonly chunks: number }
  | { readonly say: 'failed'; readonly why: string };

/** Draws a chunk; null if there are no more. */
export const drawFrom = (control: Int32Array, worker: number): number | null => {
  const chunk = Atomics.add(control, 0, 1);
  if (chunk >= control.length - 1) return null;
  Atomics.store(control, 1 + chunk, worker);
  return chunk;
};
