/** Cuts the bucket rows of a round into chunks for threads. */
import type { Distribution } from '../../threads/chunks/choose.js';

/** How rows are distributed over threads. */
export interface Cutting {
  /** From `tuning.cpuDistribution`. */
  readonly distribution: Distribution;
  /** Rows per chunk, from `tuning.cpuChunk`; null: by the size of the round, or equal shares. */
  readonly chunk: number | null;
}

/** Chunks of a dynamic round per thread, about: enough that all threads finish together. */
const CHUNKS_PER_THREAD = 6;

/** Least and most rows per chunk. */
export const chunkRange = [1, 256] as const;

/** Returns how `rows` are cut for the own thread and `workers` workers. */
export const cutRows = (
  rows: number,
  workers: number,
  { distribution, chunk }: Cutting,
): { readonly rowsPerChunk: number; readonly chunks: number } => {
  const threads = workers + 1;
  const bySize =
    distribution === 'static'
      ? Math.ceil(rows / threads)
      : Math.min(chunkRange[1], Math.floor(rows / (threads * CHUNKS_PER_THREAD)));
  const rowsPerChunk = Math.max(1, chunk ?? bySize);
  return { rowsPerChunk, chunks: Math.ceil(rows / rowsPerChunk) };
};
