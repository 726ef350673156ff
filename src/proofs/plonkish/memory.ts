/** Main memory of a key of PLONK or FFLONK and its proofs under a limit. */
import type { PlonkZkey } from '../../formats/zkey.js';
import { canShare } from '../../threads/platform.js';
import type { EngineOptions } from '../api.js';
import { ELEMENT_BYTES, type KeyLimit, planPoints, workersUnder } from '../key-memory.js';
import { COEFFICIENTS_AT_A_TIME } from '../key-points.js';
import { VECTOR_BYTES } from '../key-vectors.js';
import { SCALAR_BYTES } from '../witness.js';
import type { PlonkishCircuit } from './circuit.js';

/** Polynomials that are committed to at a time. */
const COMMITTED = 3;

/** Bytes of an addition: two variables, and two BigInts. */
const ADDITION_BYTES = 128;

/** Bytes of what threads that share memory free late, at the end of a batch. */
const LATE_BYTES = 2 ** 26;

/** Vectors of n elements that a key and a proof hold at most, beside vectors of all variables. */
export interface VectorCounts {
  /** If the key keeps all that saves time. */
  readonly whole: number;
  /** If it keeps its polynomials alone. */
  readonly least: number;
}

/** Points and vectors of a key that stay in memory. */
export interface PlonkishPlan {
  /** True if its polynomials are the only vectors that the key keeps. */
  readonly isLimited: boolean;
  /** The least limit that the key opens with, in bytes. */
  readonly leastLimit: number;
  /** Most bytes of vectors in main memory. */
  readonly memoryBudget: number;
  /** Points that stay loaded, and those of a page of the others. */
  readonly count: number;
  readonly pagePoints: number;
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
}

/**
 * Plans what stays loaded. Without room for all points and all that saves time, a key keeps its
 * polynomials alone, and reads points page by page.
 *
 * @param powers number of powers of τ
 * @throws MsmError `out-of-memory` if the limit is below what a proof takes without any points
 */
export const planKey = (
  { variables, domainSize, sections: { ptau } }: PlonkZkey,
  { additions, wires }: Pick<PlonkishCircuit, 'additions' | 'wires'>,
  powers: number,
  { whole, least }: VectorCounts,
  limit: KeyLimit,
  options: EngineOptions,
): PlonkishPlan => {
  const isOnGpu = options.backend === 'gpu';
  const vector = isOnGpu ? 0 : domainSize * ELEMENT_BYTES;
  const late = !isOnGpu && canShare() && workersUnder(limit) > 0 ? LATE_BYTES : 0;
  const inputs = (isOnGpu ? 0 : ELEMENT_BYTES) * variables;
  // the witness and a copy, indices of wires and copies, additions
  const kept =
    2 * SCALAR_BYTES * variables + 8 * wires[0].length * 3 + (additions.variables.length / 2) * ADDITION_BYTES;
  const coefficientBytes = SCALAR_BYTES + (isOnGpu ? 0 : ELEMENT_BYTES);
  const coefficients = COMMITTED * Math.min(powers, COEFFICIENTS_AT_A_TIME) * coefficientBytes;
  const fixed = kept + inputs + late;
  const bytes = {
    whole: fixed + Math.ceil(whole * vector) + COMMITTED * powers * SCALAR_BYTES,
    // memory of WebAssembly does not shrink while points are added up
    least: fixed + Math.ceil(least * vector) + coefficients,
  };
  const section = { count: powers, pointBytes: ptau.pointBytes };
  const plan = planPoints([section], domainSize, bytes, limit);
  const [count] = plan.counts as [number];
  const vectors = Math.ceil(least * vector) + inputs + late + coefficients;
  // vectors on the GPU are not in main memory
  const isLimited = plan.isLimited && !isOnGpu;
  const { leastLimit, pagePoints, proofsAtATime } = plan;
  return { isLimited, leastLimit, count, pagePoints, memoryBudget: isLimited ? vectors : VECTOR_BYTES, proofsAtATime };
};
