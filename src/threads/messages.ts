/** Messages between a pool and its workers. All values are sent as structured clones. */
import type { Assignment } from './chunks/chunk-source.js';

/** Begins a worker's part of a round. */
export interface Begin<Task> {
  readonly say: 'begin';
  /** Value that the worker prepares itself with; null if it is that of the round before. */
  readonly setup: unknown;
  readonly task: Task;
  readonly assignment: Assignment;
}

/** Answers `next`. */
export interface More {
  readonly say: 'more';
  /** null if no chunk is left. */
  readonly chunk: number | null;
}

export type ToWorker<Task> = Begin<Task> | More;

export type FromWorker<Result> =
  /** The worker has loaded and can compute. */
  | { readonly say: 'ready' }
  /** Asks for a chunk. */
  | { readonly say: 'next' }
  /** Ends the worker's part of a round. */
  | { readonly say: 'done'; readonly result: Result; readonly chunks: number }
  /** `lacksMemory`: WebAssembly got no memory. */
  | { readonly say: 'failed'; readonly why: string; readonly lacksMemory?: boolean };
