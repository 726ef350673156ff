/** Main memory of a key and its proofs, and the points that stay loaded under a limit. */

import { MsmError } from '../errors.js';
import type { PointSection } from '../formats/source.js';
import type { EngineOptions } from '../proofs/api.js';
import { countsWithin, PAGES_AT_A_TIME, pagePointsOf } from '../proofs/key-points.js';
import { SCALAR_BYTES } from '../proofs/witness.js';
import { mostWorkers } from '../threads/platform.js';

/**
 * Memory of sums in bytes on the caller's thread and on each worker, chosen so that the peaks of
 * processes with domains of 2^18 and 2^20, with no worker and with one, stay within the limit and
 * what Node takes: WebAssembly, rounds, and what is not collected yet.
 */
const [CALLER_BYTES, WORKER_BYTES] = [5 * 2 ** 24, 2 ** 25];

/** Sizes of a key, in bytes unless said otherwise. */
export interface KeySizes {
  /** Number of variables, and of elements of the domain. */
  readonly variables: number;
  readonly domainSize: number;
  /** The sections of points. */
  readonly sections: readonly PointSection[];
  /** The packed matrices. */
  readonly packed: number;
  /** Memory of WebAssembly while the quotient is computed. */
  readonly quotient: number;
}

/** Points of a key that stay loaded. */
export interface KeyPlan {
  /** False if all points and matrices stay in memory. */
  readonly isLimited: boolean;
  /** Points of each section that stay loaded. */
  readonly counts: readonly number[];
}

/**
 * Plans what stays loaded. Without room for all of it a proof computes the quotient by itself, frees
 * its memory, and then adds up the points, those that do not fit page by page.
 *
 * @param limit bytes of main memory; undefined: no limit
 * @throws MsmError `out-of-memory` if the limit is below what a proof takes without any points
 */
export const planKey = (
  { variables, domainSize, sections, packed, quotient }: KeySizes,
  limit: number | undefined,
  options: EngineOptions,
): KeyPlan => {
  const all = { isLimited: false, counts: sections.map(({ count }) => count) };
  if (limit === undefined) return all;
  const [witness, scalars] = [variables * SCALAR_BYTES, domainSize * SCALAR_BYTES];
  const threads = CALLER_BYTES + mostWorkers(options) * WORKER_BYTES;
  const copied = witness + Math.max(witness, scalars);
  const points = sections.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (threads + points + quotient + copied <= limit) return all;
  const largest = Math.max(...sections.map(({ pointBytes }) => pointBytes));
  const pagePoints = pagePointsOf(domainSize);
  const pages = PAGES_AT_A_TIME * pagePoints * largest;
  const floor = threads + packed + Math.max(quotient + copied, witness + scalars + pages);
  if (floor > limit) {
    throw new MsmError(
      'out-of-memory',
      `options.memoryLimit is ${limit} bytes, and a proof with this key takes ${floor} bytes without its points; raise it, or compute with fewer workers`,
    );
  }
  return { isLimited: true, counts: countsWithin(sections, pagePoints, limit - floor) };
};
