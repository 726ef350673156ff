/** Main memory of a key of Groth16 and its proofs under a limit. */

import type { PointSection } from '../formats/source.js';
import {
  bytesOfPoints,
  bytesOfSums,
  ELEMENT_BYTES,
  type KeyLimit,
  type KeyPlan,
  planPoints,
} from '../proofs/key-memory.js';
import { SCALAR_BYTES } from '../proofs/witness.js';

/** Sizes of a key, in bytes unless said otherwise. */
export interface KeySizes {
  /** Number of variables, and of elements of the domain. */
  readonly variables: number;
  readonly domainSize: number;
  /** The sections of points. */
  readonly sections: readonly PointSection[];
  /** True if a GPU has the matrices and the vectors. */
  readonly isOnGpu: boolean;
}

/** The matrices of a key, and what a quotient takes with them. */
export interface MatrixSizes {
  /** Memory of WebAssembly while the quotient is computed with matrices in memory; infinite if they are not. */
  readonly quotient: number;
  /** True if the rows of both matrices together ascend in the file. */
  readonly isInOrder: boolean;
  /** Entries of the file in memory while the matrices are read. */
  readonly entries: number;
}

/** Vectors of the domain that a quotient with matrices in memory takes at most, tables included. */
const MOST_VECTORS = 12;

/** Returns the most memory of a quotient, without the work of its plan. @param loaded bytes of the matrices */
export const mostBytesOfQuotient = (
  { variables, domainSize }: Pick<KeySizes, 'variables' | 'domainSize'>,
  loaded: number,
): number => loaded + ELEMENT_BYTES * (variables + MOST_VECTORS * domainSize);

/** Returns whether all of a key and of two proofs has room. */
export const hasRoom = (sizes: KeySizes, matrices: MatrixSizes, limit: KeyLimit): boolean =>
  !limit.isStrict && planKey(sizes, matrices, limit).proofsAtATime > 1;

/** Bytes for each element of a quotient that is streamed, of so many at most, while it is computed part by part. */
const [PART_BYTES, MOST_IN_PARTS] = [80, 2 ** 14];

/**
 * Plans what stays loaded. Without room for all of it the matrices stay in the file, and the quotient is
 * computed with one vector beside the scalars of H.
 *
 * @throws MsmError `out-of-memory` if the limit is below what a proof takes without any points
 */
export const planKey = (
  { variables, domainSize, sections, isOnGpu }: KeySizes,
  { quotient, isInOrder, entries }: MatrixSizes,
  limit: KeyLimit,
): KeyPlan => {
  const [witness, scalars] = [variables * SCALAR_BYTES, domainSize * SCALAR_BYTES];
  const fixed = witness + scalars;
  const vector = domainSize * (ELEMENT_BYTES + (isInOrder ? 0 : SCALAR_BYTES));
  const parts = PART_BYTES * Math.min(domainSize, MOST_IN_PARTS);
  const bytes = {
    whole: quotient + witness + Math.max(witness, scalars),
    least: isOnGpu ? fixed : fixed + vector + parts + entries,
  };
  return planPoints(sections, domainSize, bytes, limit);
};

/** Vectors of a domain that a quotient takes with matrices in memory: three, and three tables. */
const WHOLE_VECTORS = 6;

/** Returns false for a limit that has no room for all points and matrices, whatever the matrices are. */
export const mayStayWhole = ({ variables, domainSize, sections }: KeySizes, limit: KeyLimit): boolean => {
  const elements = 2 * variables + (1 + WHOLE_VECTORS) * domainSize;
  return bytesOfSums(limit) + bytesOfPoints(sections) + elements * SCALAR_BYTES <= limit.bytes;
};
