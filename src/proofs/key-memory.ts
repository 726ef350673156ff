/** Limits of main memory: what sums take, which points stay loaded, and the least limit of a key. */
import { bytesOfThreads, type MemoryLimit } from '../engine/main-memory.js';
import { MsmError } from '../errors.js';
import type { PointSection } from '../formats/source.js';
import { mostWorkers } from '../threads/platform.js';
import type { EngineOptions } from './api.js';
import { countsWithin, PAGES_AT_A_TIME, pagePointsOf } from './key-points.js';

/** Returns the memory of sums on all threads, in bytes. */
export const bytesOfSums = (options: EngineOptions): number => bytesOfThreads(mostWorkers(options));

/**
 * Proofs of a key that are under way at a time: one is prepared while the device computes for the
 * other. The CPU takes as long for many with 1, 2 or 3 (row `proofs-at-a-time`).
 */
const PROOFS_AT_A_TIME = 2;

/** Points of a key that stay loaded. */
export interface KeyPlan {
  /** False if all points and vectors stay in memory. */
  readonly isLimited: boolean;
  /** Points of each section that stay loaded. */
  readonly counts: readonly number[];
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
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
  limit: MemoryLimit,
): KeyPlan => {
  const points = sections.reduce((sum, { count, pointBytes }) => sum + count * pointBytes, 0);
  if (whole + points <= limit.bytes) {
    const hasRoom = !limit.isStrict && PROOFS_AT_A_TIME * whole + points <= limit.bytes;
    return {
      isLimited: false,
      counts: sections.map(({ count }) => count),
      proofsAtATime: hasRoom ? PROOFS_AT_A_TIME : 1,
    };
  }
  const pagePoints = pagePointsOf(domainSize);
  const pages = PAGES_AT_A_TIME * pagePoints * Math.max(...sections.map(({ pointBytes }) => pointBytes));
  const floor = Math.max(computing, adding + pages);
  if (floor > limit.bytes && limit.isStrict) {
    throw new MsmError(
      'out-of-memory',
      `options.memoryLimit is ${limit.bytes} bytes, and a proof with this key takes ${floor} bytes without its points; raise it, or compute with fewer workers`,
    );
  }
  const room = Math.max(0, limit.bytes - floor);
  return { isLimited: true, counts: countsWithin(sections, pagePoints, room), proofsAtATime: 1 };
};
