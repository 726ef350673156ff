/** Main memory of a key of Groth16 and its proofs under a limit. */

import type { PointSection } from '../formats/source.js';
import type { EngineOptions } from '../proofs/api.js';
import { bytesOfThreads, type KeyPlan, planPoints } from '../proofs/key-memory.js';
import { SCALAR_BYTES } from '../proofs/witness.js';

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
  const [witness, scalars] = [variables * SCALAR_BYTES, domainSize * SCALAR_BYTES];
  const threads = bytesOfThreads(options);
  const copied = witness + Math.max(witness, scalars);
  const bytes = {
    whole: threads + quotient + copied,
    computing: threads + packed + quotient + copied,
    adding: threads + packed + witness + scalars,
  };
  return planPoints(sections, domainSize, bytes, limit);
};
