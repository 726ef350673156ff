/** Main memory of a key of Groth16 and its proofs under a limit. */

import type { MemoryLimit } from '../engine/main-memory.js';
import type { PointSection } from '../formats/source.js';
import type { EngineOptions } from '../proofs/api.js';
import { bytesOfSums, type KeyPlan, planPoints } from '../proofs/key-memory.js';
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

/** Vectors of the domain that a quotient takes at most, tables included. */
const MOST_VECTORS = 12;

/** Bytes of an element in WebAssembly: five floats. Other arithmetics take fewer. */
const ELEMENT_BYTES = 40;

/** Returns the most memory of a quotient, without the work of its plan. @param loaded bytes of the matrices */
export const mostBytesOfQuotient = (
  { variables, domainSize }: Pick<KeySizes, 'variables' | 'domainSize'>,
  loaded: number,
): number => loaded + ELEMENT_BYTES * (variables + MOST_VECTORS * domainSize);

/** Returns whether all of a key and of two proofs has room. */
export const hasRoom = (sizes: KeySizes, limit: MemoryLimit, options: EngineOptions): boolean =>
  !limit.isStrict && planKey(sizes, limit, options).proofsAtATime > 1;

/**
 * Plans what stays loaded. Without room for all of it a proof computes the quotient by itself, frees
 * its memory, and then adds up the points, those that do not fit page by page.
 *
 * @throws MsmError `out-of-memory` if the limit is below what a proof takes without any points
 */
export const planKey = (
  { variables, domainSize, sections, packed, quotient }: KeySizes,
  limit: MemoryLimit,
  options: EngineOptions,
): KeyPlan => {
  const [witness, scalars] = [variables * SCALAR_BYTES, domainSize * SCALAR_BYTES];
  const threads = bytesOfSums(options);
  const copied = witness + Math.max(witness, scalars);
  const bytes = {
    whole: threads + quotient + copied,
    computing: threads + packed + quotient + copied,
    adding: threads + packed + witness + scalars,
  };
  return planPoints(sections, domainSize, bytes, limit);
};
