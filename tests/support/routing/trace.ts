/** Traces: sequences of calls of a prover, for routing. */

import { Random } from '../../../dev/oracle/known-bases.js';
import type { CurveContext } from '../../../src/curves/curve.js';
import type { Group } from '../../../src/curves/more-curves.js';
import { NO_TABLES, type Workload } from '../../../src/msm/plan/workload.js';

/** An MSM of a trace. */
export interface TraceCall {
  readonly n: number;
  /** Number of non-zero scalars. */
  readonly nonZero: number;
  /** Bits of the longest scalar. */
  readonly bits: number;
  readonly group: Group;
}

export type Trace = readonly TraceCall[];

/**
 * Number and sizes of the calls of a published Groth16 trace: 16 k to 131 k scalars, many of them
 * sparse.
 */
const CALLS = 491;
const SIZES = { least: 14, most: 17 } as const;

/** Makes a trace of that shape; deterministic by seed. */
export const makeTrace = (
  seed: number,
  calls = CALLS,
  { least, most } = SIZES as { least: number; most: number },
): Trace => {
  const random = new Random(seed);
  const unit = (): number => random.below(2 ** 20) / 2 ** 20;
  return Array.from({ length: calls }, (): TraceCall => {
    const n = Math.round(2 ** (least + (most - least) * unit()));
    // three of five calls are sparse: selectors, and columns with few used rows
    const share = random.below(5) < 3 ? 0.002 * 100 ** unit() : 1;
    // witness scalars are often short
    const bits = random.below(4) === 0 ? 1 + random.below(32) : 253;
    return { n, nonZero: Math.max(1, Math.round(share * n)), bits, group: 'g1' };
  });
};

/** Returns the workload that the survey would report for a call. */
export const workloadOf = ({ n, nonZero, bits }: TraceCall, { signedBits }: CurveContext): Workload => {
  const length = Math.min(bits, signedBits);
  const isPicked = 2 * nonZero < n;
  const lengths = new Map([[length, nonZero]]);
  if (!isPicked && nonZero < n) lengths.set(0, n - nonZero);
  return { vectors: 1, n: isPicked ? nonZero : n, bits: length, lengths, tables: NO_TABLES, picked: isPicked };
};
