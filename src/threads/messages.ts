/** What a pool and its workers say to each other. */
import type { Operands, WindowSums } from '../msm/cpu/share.js';
import type { CompiledKernel } from '../wasm/arithmetic/point-adder.js';
import type { SharedWords } from './shared-words.js';

/** What all threads of a round need to know: the rows of all pieces, so many a chunk. */
export interface Task {
  readonly pieces: readonly Operands[];
  readonly rowsPerChunk: number;
}

/** A round. It begins with `chunks`; more are drawn from `control`, or asked for where that is null. */
export interface Begin {
  /** Where it is not the one of the round before. */
  readonly kernel: CompiledKernel | null;
  readonly task: Task;
  readonly chunks: readonly number[];
  /** In shared memory: the next chunk; how many workers may draw; then for each chunk the number of the worker that drew it, or 0. */
  readonly control: Int32Array | null;
  /** The number of the worker, from 1. */
  readonly worker: number;
  /** Its place among those that take part, from 1: only the first so many may draw. */
  readonly place: number;
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

/** Where the marks of chunks begin. */
const MARKS = 2;

/** What threads of a round share that draw from it, in memory that nobody else uses. */
export const controlIn = (memory: SharedWords, chunks: number): Int32Array => {
  const { buffer, length } = memory.take(MARKS + chunks);
  return new Int32Array(buffer, 0, length).fill(0);
};

/** Draws a chunk; null if there are no more. */
export const drawFrom = (control: Int32Array, worker: number): number | null => {
  const chunk = Atomics.add(control, 0, 1);
  if (chunk >= control.length - MARKS) return null;
  Atomics.store(control, MARKS + chunk, worker);
  return chunk;
};

/** Whether a chunk is left. */
export const isLeftIn = (control: Int32Array): boolean => Atomics.load(control, 0) < control.length - MARKS;

/** The number of the worker that drew a chunk; 0: nobody's. */
export const drawnBy = (control: Int32Array, chunk: number): number => Atomics.load(control, MARKS + chunk);

/** More workers than there are. */
export const ALL = 2 ** 31 - 1;

/** Says how many workers may draw. */
export const allow = (control: Int32Array, workers: number): void => {
  Atomics.store(control, 1, workers);
  Atomics.notify(control, 1);
};

/** Waits, in a worker, until it may draw. */
export const waitFor = (control: Int32Array, place: number): void => {
  for (let allowed = Atomics.load(control, 1); allowed < place; allowed = Atomics.load(control, 1)) {
    Atomics.wait(control, 1, allowed);
  }
};
