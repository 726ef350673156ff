/** Limits of main memory: what sums take, which points stay loaded, and the least limit of a key. */
import { MsmError } from '../errors.js';
import type { PointSection } from '../formats/source.js';
import { mostWorkers } from '../threads/platform.js';
import type { EngineOptions } from './api.js';
import { countsWithin, PAGES_AT_A_TIME, pagePointsOf } from './key-points.js';

/**
 * Memory of sums in bytes on the caller's thread and on each worker, chosen so that the peaks of
 * processes with domains of 2^18 and 2^20, with no worker and with one, stay within the limit and
 * what Node takes: WebAssembly, rounds, and what is not collected yet.
 */
const [CALLER_BYTES, WORKER_BYTES] = [5 * 2 ** 24, 2 ** 25];

/** Returns the memory of sums on all threads, in bytes. */
export const bytesOfThreads = (options: EngineOptions): number => CALLER_BYTES + mostWorkers(options) * WORKER_BYTES;

/** Points of a key that stay loaded. */
export interface KeyPlan {
  /** False if all points and vectors stay in memory. */
  readonly isLimited: boolean;
  /** Points of each section that stay loaded. */
  readonly counts: readonly number[];
}

/** Memory of proofs, in bytes. */
export interface ProofBytes {
  /** Bytes with everything in memory but points. */
  readonly whole: number;
  /** Bytes of a proof that frees what it can, without pages of points. */
  readonly computing: number;
  /** The same while it adds up points. */
  readonly adding: number;
}

/** Plans which points stay loaded. @throws MsmError `out-of-memory` if the limit is below the least one */
export const planPoints = (
  sections: readonly Pick<PointSection, 'count' | 'pointBytes'>[],
  domainSize: number,
  { whole, computing, adding }: ProofBytes,
  limit: number | undefined,
): KeyPlan => {
  const all = { isLimited: false, counts: sections.map(({ count }) => count) };
  const points = sections.reduce((sum, { count, pointBytes }) => sum + count * pointBytes, 0);
  if (limit === undefined || whole + points <= limit) return all;
  const pagePoints = pagePointsOf(domainSize);
  const pages = PAGES_AT_A_TIME * pagePoints * Math.max(...sections.map(({ pointBytes }) => pointBytes));
  const floor = Math.max(computing, adding + pages);
  if (floor > limit) {
    throw new MsmError(
      'out-of-memory',
      `options.memoryLimit is ${limit} bytes, and a proof with this key takes ${floor} bytes without its points; raise it, or compute with fewer workers`,
    );
  }
  return { isLimited: true, counts: countsWithin(sections, pagePoints, limit - floor) };
};
