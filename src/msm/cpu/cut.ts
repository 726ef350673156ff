/** How a round is cut for threads. Pure. */
/** How rows get to threads. */
export interface Cutting {
  /** Whether whoever is done draws the next chunk, or all have equal shares. */
  readonly distribution: 'dynamic' | 'static';
  /** Rows of a chunk; null: by the size of the round. */
  readonly chunk: number | null;
}

/** Chunks that each thread draws of a round, about. */
const CHUNKS_EACH = 6;

/** More rows than this in a chunk, or fewer, are not taken. */
export const chunkRange = [1, 256] as const;

/** Chunks of a round of so many rows. */
export const cutRows = (
  rows: number,
  workers: number,
  { distribution, chunk }: Cutting,
): { readonly rowsPerChunk: number; readonly chunks: number } => {
  const threads = workers + 1;
  const wanted =
    distribution === 'static'
      ? Math.ceil(rows / threads)
      : (chunk ?? Math.min(chunkRange[1], Math.floor(rows / (threads * CHUNKS_EACH))));
  const rowsPerChunk = Math.max(1, wanted);
  return { rowsPerChunk, chunks: Math.ceil(rows / rowsPerChunk) };
};
