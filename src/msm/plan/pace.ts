/** How fast a device walks, as its runs tell. */
import type { AdapterDescription } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import { gpuCoefficients } from './cost.js';
import { SUBMIT_MS, UNMEASURED_BOUND } from './device-defaults.js';

/** Smaller runs are dominated by latency, and say nothing about the rate. */
const LEAST_ENTRIES = 2 ** 18;

/** One run may be wrong: a clock that is not what it seems, a GPU that somebody else kept busy. */
const LARGEST_CHANGE = 8;

/** Additions a millisecond that the bound of the first submits is right for. */
const UNMEASURED_RATE = UNMEASURED_BOUND / SUBMIT_MS;

/**
 * Additions a millisecond that may be counted on: the prior of the adapter, or less if its runs were slower.
 *
 * @param learned as `learnedRate` returns it
 */
export const safeRate = (curve: CurveContext, adapter: AdapterDescription, learned: number | null): number =>
  Math.min(1e6 / gpuCoefficients(curve, adapter).digitNs, learned ?? Number.POSITIVE_INFINITY);

/**
 * The last run that kept the device busy counts: without timestamps the first looks slower than the device is, because its submits are
 * short and each waits for the one before. It counts for at most eight times more or less than what was thought before it.
 *
 * @param before additions a millisecond; null before any run was long enough
 * @param ms time of the walk, or all that is known to contain it
 * @returns additions a millisecond
 */
export const learnedRate = (before: number | null, entries: number, ms: number): number | null => {
  if (entries < LEAST_ENTRIES || !(ms > 0 && ms < Number.POSITIVE_INFINITY)) return before;
  const known = before ?? UNMEASURED_RATE;
  return Math.min(known * LARGEST_CHANGE, Math.max(known / LARGEST_CHANGE, entries / ms));
};
