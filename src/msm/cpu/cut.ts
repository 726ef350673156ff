/** Cuts the bucket rows of a round into chunks for threads. */
import type { Distribution } from '../../threads/chunks/choose.js';

/** How rows are distributed over threads. */
export interface Cutting {
  /** From `tuning.cpuDistribution`. */
  readonly distribution: Distribution;
  /** Rows per chunk, from `tuning.cpuChunk`; null: by the size of the round, or equal shares. */
  readonly chunk: number | null;
}

/** Least and most rows per chunk. */
export const chunkRange = [1, 256] as const;

/** Rows of the next chunk of a dynamic round, in equal shares of the rows that are left. */
const PART_OF_SHARE = 2 / 3;

/** Least chunks that one thread's equal share of all rows would have: how close threads finish. */
const LEAST_CHUNKS = 48;

/** Part of the rows that the own thread computes alone where a round measures its workers. */
const ALONE = 1 / 32;

/** Yields the sizes of chunks of `rows` rows. */
function* sizesOf(
  rows: number,
  threads: number,
  { distribution, chunk }: Cutting,
  measures: boolean,
): Generator<number> {
  const least = Math.max(1, Math.floor(rows / (threads * LEAST_CHUNKS)));
  const share = Math.ceil(rows / threads);
  // the first chunk also takes the points into memory, so that the second is measured
  const alone =
    measures && chunk === null ? [least, Math.ceil(ALONE * rows)].slice(0, Math.max(0, rows - threads)) : [];
  yield* alone;
  for (let left = rows - alone.reduce((sum, size) => sum + size, 0); left > 0; ) {
    const next = Math.max(least, Math.min(chunkRange[1], Math.ceil((PART_OF_SHARE * left) / threads)));
    const size = Math.min(left, chunk ?? (distribution === 'static' ? share : next));
    yield size;
    left -= size;
  }
}

/**
 * Cuts `rows` for the own thread and `workers` workers. Chunks of a dynamic round become smaller:
 * each has a fixed part of what is left (guided self-scheduling, Polychronopoulos and Kuck 1987).
 *
 * @param measures true if the own thread computes two short chunks first, which measure its speed
 * @returns the first row of each chunk, and behind them the number of rows
 */
export const cutRows = (rows: number, workers: number, cutting: Cutting, measures = false): readonly number[] => {
  const cuts = [0];
  let end = 0;
  for (const size of sizesOf(rows, workers + 1, cutting, measures)) {
    end += size;
    cuts.push(end);
  }
  return cuts;
};
