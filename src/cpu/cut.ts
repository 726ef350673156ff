/** How much of the CPU a round is worth, and how it is cut for threads. Pure. */
import type { CurveContext } from '../curves/curve.js';

/** How rows get to threads. */
export interface Cutting {
  /** Whether whoever is done draws the next chunk, or all have equal shares. */
  readonly distribution: 'dynamic' | 'static';
  /** Rows of a chunk; null: by the size of the round. */
  readonly chunk: number | null;
}

/** Nanoseconds of an addition on one thread, about: by the limbs of 29 bits of a coordinate, as their products are most of it (docs/performance.md, "On the CPU"). */
export const additionNs = ({ p, coordinates: { degree } }: CurveContext): number => {
  const limbs = Math.ceil((p.toString(2).length + 5) / 29);
  return 7.3 * limbs * limbs * (degree === 1 ? 1 : 3);
};

/** What a worker has to have to do, in milliseconds, to be worth starting: twice what it takes to start one. */
const LEAST_MS = 40;

/** How many workers, beside the own thread, so many additions justify. */
export const workersFor = (curve: CurveContext, additions: number): number =>
  Math.floor((additions * additionNs(curve)) / 1e6 / LEAST_MS);

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
