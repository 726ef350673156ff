/** Limits of main memory: what sums take, which points stay loaded, and the least limit of a key. */
import { bytesOfThreads, type MemoryLimit, workersWithin } from '../engine/main-memory.js';
import { MsmError } from '../errors.js';
import type { PointSection } from '../formats/source.js';
import { countsWithin, PAGES_AT_A_TIME, pagePointsOf } from './key-points.js';

/** The limit of a key. */
export interface KeyLimit extends MemoryLimit {
  /** Workers of sums, where memory has room for them. */
  readonly mostWorkers: number;
  /** True if the caller says how many workers there are, so that no limit takes any away. */
  readonly hasFixedWorkers: boolean;
}

/** Share of a limit that threads take at most, unless the caller says how many: points need the rest. */
const SHARE_OF_THREADS = 1 / 2;

/** Returns the workers of sums under a limit. */
export const workersUnder = ({ bytes, mostWorkers, hasFixedWorkers }: Omit<KeyLimit, 'isStrict'>): number =>
  hasFixedWorkers ? mostWorkers : workersWithin(SHARE_OF_THREADS * bytes, mostWorkers);

/** Returns the memory of sums on all threads, in bytes. */
export const bytesOfSums = (limit: KeyLimit): number => bytesOfThreads(workersUnder(limit));

/**
 * Returns the limit from which on every limit has room for some bytes and for the sums of the threads that
 * it allows.
 */
const leastLimitFor = (bytes: number, limit: KeyLimit): number => {
  let workers = limit.mostWorkers;
  // more workers than these come with a limit that is larger than what they take
  while (workers > 0 && workersUnder({ ...limit, bytes: bytes + bytesOfThreads(workers) }) < workers) workers--;
  return bytes + bytesOfThreads(workers);
};

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
  /** Points of a page of the others. */
  readonly pagePoints: number;
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
}

/** Memory of proofs without their sums, in bytes. */
export interface ProofBytes {
  /** Bytes with everything in memory but points. */
  readonly whole: number;
  /** Bytes with as little as possible in memory, without pages of points. */
  readonly least: number;
}

/** Returns the bytes of all points of some sections. */
export const bytesOfPoints = (sections: readonly Pick<PointSection, 'count' | 'pointBytes'>[]): number =>
  sections.reduce((sum, { count, pointBytes }) => sum + count * pointBytes, 0);

/**
 * Plans which points stay loaded, and the pages of the others: the larger a page, the fewer additions of
 * buckets, so that pages grow before more points stay.
 *
 * @throws MsmError `out-of-memory` if the limit is below the least one
 */
export const planPoints = (
  sections: readonly Pick<PointSection, 'count' | 'pointBytes'>[],
  domainSize: number,
  { whole, least }: ProofBytes,
  limit: KeyLimit,
): KeyPlan => {
  const widest = PAGES_AT_A_TIME * Math.max(...sections.map(({ pointBytes }) => pointBytes));
  let [pagePoints, mostPagePoints] = pagePointsOf(domainSize);
  const points = bytesOfPoints(sections);
  const sums = bytesOfSums(limit);
  const leastLimit = leastLimitFor(Math.min(whole + points, least + widest * pagePoints), limit);
  if (whole + points + sums <= limit.bytes) {
    const hasRoom = !limit.isStrict && PROOFS_AT_A_TIME * (whole + sums) + points <= limit.bytes;
    return {
      ...{ isLimited: false, leastLimit, pagePoints },
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
  const counts = sections.map(({ count }) => count);
  if (least + sums + points <= limit.bytes) {
    return { isLimited: true, leastLimit, counts, pagePoints, proofsAtATime: 1 };
  }
  const roomOf = (page: number): number => limit.bytes - least - sums - widest * page;
  while (2 * pagePoints <= mostPagePoints && roomOf(2 * pagePoints) >= 0) pagePoints *= 2;
  return {
    ...{ isLimited: true, leastLimit, pagePoints, proofsAtATime: 1 },
    counts: countsWithin(sections, pagePoints, Math.max(0, roomOf(pagePoints))),
  };
};
