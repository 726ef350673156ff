/** Calls that a prover makes, one after the other: for asking who should compute them. */
import type { CurveContext } from '../../src/curves/curve.js';
import type { Group } from '../../src/curves/names.js';
import { NO_TABLES, type Workload } from '../../src/msm/plan/workload.js';
import { Random } from '../oracle/known-bases.js';

/** An MSM of a trace. */
export interface TraceCall {
  readonly n: number;
  /** Scalars that are not zero. */
  readonly nonZero: number;
  /** Of the longest scalar. */
  readonly bits: number;
  readonly group: Group;
}

export type Trace = readonly TraceCall[];

/** Calls of the trace that was published (DESIGN §10): so many, of 16 k to 131 k scalars, many of them sparse. */
const CALLS = 491;
const SIZES = { least: 14, most: 17 } as const;

/** One after that shape; the same for the same seed. */
export const makeTrace = (
  seed: number,
  calls = CALLS,
  { least, most } = SIZES as { least: number; most: number },
): Trace => {
  const random = new Random(seed);
  const unit = (): number => random.below(2 ** 20) / 2 ** 20;
  return Array.from({ length: calls }, (): TraceCall => {
    const n = Math.round(2 ** (least + (most - least) * unit()));
    // three of five are sparse: selectors, and columns of which few rows are used
    const share = random.below(5) < 3 ? 0.002 * 100 ** unit() : 1;
    // witnesses are often short
    const bits = random.below(4) === 0 ? 1 + random.below(32) : 253;
    return { n, nonZero: Math.max(1, Math.round(share * n)), bits, group: 'g1' };
  });
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RangeError(`trace: ${error instanceof Error ? error.message : error}`);
  }
};

/** @throws RangeError that says what is no call of a trace */
export const parseTrace = (text: string): Trace => {
  const given = jsonOf(text);
  if (!Array.isArray(given) || given.length === 0) throw new RangeError('trace: it is an array of calls');
  return given.map((call: Partial<TraceCall> | null, i) => {
    const { n, nonZero = n, bits = 253, group = 'g1' } = call ?? {};
    const isCount = (value: unknown, most: number): value is number =>
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
    if (!isCount(n, 2 ** 24)) throw new RangeError(`trace: call ${i}: n must be an integer from 1 to 2^24`);
    if (!isCount(nonZero, n)) throw new RangeError(`trace: call ${i}: nonZero must be an integer from 1 to n`);
    if (!isCount(bits, 256)) throw new RangeError(`trace: call ${i}: bits must be an integer from 1 to 256`);
    if (group !== 'g1' && group !== 'g2') throw new RangeError(`trace: call ${i}: group must be g1 or g2`);
    return { n, nonZero, bits, group };
  });
};

/** What the survey would say of the scalars of a call. */
export const workloadOf = ({ n, nonZero, bits }: TraceCall, { signedBits }: CurveContext): Workload => {
  const length = Math.min(bits, signedBits);
  const isPicked = 2 * nonZero < n;
  const lengths = new Map([[length, nonZero]]);
  if (!isPicked && nonZero < n) lengths.set(0, n - nonZero);
  return { vectors: 1, n: isPicked ? nonZero : n, bits: length, lengths, tables: NO_TABLES, picked: isPicked };
};
