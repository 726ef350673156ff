/**
 * Makes scalars for a call of a trace: with its number of non-zero scalars, evenly spread, and its
 * bit length.
 */
import type { ScalarSet } from '../../../cases/scalar-distributions.js';
import { encodeScalars, Random, type ScalarsOf } from '../../../oracle/known-bases.js';
import type { TraceCall } from '../../../routing/trace.js';

export function scalarsOf(call: Omit<TraceCall, 'group'>, seed: number, curve: ScalarsOf): ScalarSet {
  const { n, nonZero, bits } = call;
  const random = new Random(seed);
  // sets the top bit, so that a scalar has the full length and is not zero
  const longest = 1n << BigInt(bits - 1);
  const values = Array.from({ length: n }, (_, i) => {
    // the k-th non-zero scalar is where k · n ÷ nonZero passes an integer
    const isDrawn = Math.floor(((i + 1) * nonZero) / n) > Math.floor((i * nonZero) / n);
    return isDrawn ? random.bits(bits) | longest : 0n;
  });
  return { values, bytes: encodeScalars(curve, values) };
}
