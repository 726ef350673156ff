/** Scalars of a call of a trace: as many that are not zero, as long, spread evenly. */
import type { ScalarSet } from '../../../cases/scalar-distributions.js';
import { encodeScalars, Random, type ScalarsOf } from '../../../oracle/known-bases.js';
import type { TraceCall } from '../../../routing/trace.js';

export function scalarsOf(call: Omit<TraceCall, 'group'>, seed: number, curve: ScalarsOf): ScalarSet {
  const { n, nonZero, bits } = call;
  const random = new Random(seed);
  // as long as that, and not zero
  const longest = 1n << BigInt(bits - 1);
  const values = Array.from({ length: n }, (_, i) => {
    // the k-th that is not zero is where k · n ÷ nonZero has passed a whole number
    const isDrawn = Math.floor(((i + 1) * nonZero) / n) > Math.floor((i * nonZero) / n);
    return isDrawn ? random.bits(bits) | longest : 0n;
  });
  return { values, bytes: encodeScalars(curve, values) };
}
