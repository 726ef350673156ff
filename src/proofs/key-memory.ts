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

/** Bytes of an element in WebAssembly: five floats. Other arithmetics take fewer. */
export const ELEMENT_BYTES = 40;

/** Points of a key that stay loaded. */
export interface KeyPlan {
  /** False if all points and vectors stay in memory. */
  readonly isLimited: boolean;
  /** The least limit that the key opens with, in bytes. */
  readonly leastLimit: number;
  /** Points of each section that stay loaded. */
  readonly counts: readonly number[];
}

/** Memory of proofs, in bytes. */
export interface ProofBytes {
  /** Bytes with everything in memory but points. */
  readonly whole: number;
  /** Bytes with as little as possible in memory, without pages of points. */
  readonly least: number;
}

/** Returns the bytes of all points of some sections. */
export const bytesOfPoints = (sections: readonly Pick<PointSection, 'count' | 'pointBytes'>[]): number =>
  sections.reduce((sum, { count, pointBytes }) => sum + count * pointBytes, 0);

/** Plans which points stay loaded. @throws MsmError `out-of-memory` if the limit is below the least one */
export const planPoints = (
  sections: readonly Pick<PointSection, 'count' | 'pointBytes'>[],
  domainSize: number,
  { whole, least }: ProofBytes,
  limit: number | undefined,
): KeyPlan => {
  const pagePoints = pagePointsOf(domainSize);
  const pages = PAGES_AT_A_TIME * pagePoints * Math.max(...sections.map(({ pointBytes }) => pointBytes));
  const all = whole + bytesOfPoints(sections);
  const leastLimit = Math.min(all, least + pages);
  if (limit === undefined || all <= limit) {
    return { isLimited: false, leastLimit, counts: sections.map(({ count }) => count) };
  }
  if (leastLimit > limit) {
    throw new MsmError(
      'out-of-memory',
      `options.memoryLimit is ${limit} bytes, and a proof with this key takes ${leastLimit} bytes without its points; raise it, or compute with fewer workers`,
    );
  }
  return { isLimited: true, leastLimit, counts: countsWithin(sections, pagePoints, limit - leastLimit) };
};
