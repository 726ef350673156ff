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
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
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
  limit: MemoryLimit,
): KeyPlan => {
  const pagePoints = pagePointsOf(domainSize);
  const pages = PAGES_AT_A_TIME * pagePoints * Math.max(...sections.map(({ pointBytes }) => pointBytes));
  const points = bytesOfPoints(sections);
  const leastLimit = Math.min(whole + points, least + pages);
  if (whole + points <= limit.bytes) {
    const hasRoom = !limit.isStrict && PROOFS_AT_A_TIME * whole + points <= limit.bytes;
    return {
      ...{ isLimited: false, leastLimit },
      counts: sections.map(({ count }) => count),
      proofsAtATime: hasRoom ? PROOFS_AT_A_TIME : 1,
    };
  }
  if (leastLimit > limit.bytes && limit.isStrict) {
    throw new MsmError(
      'out-of-memory',
      `options.memoryLimit is ${limit.bytes} bytes, and a proof with this key takes ${leastLimit} bytes without its points; raise it, or compute with fewer workers`,
    );
  }
  const room = Math.max(0, limit.bytes - leastLimit);
  return { isLimited: true, leastLimit, counts: countsWithin(sections, pagePoints, room), proofsAtATime: 1 };
};
