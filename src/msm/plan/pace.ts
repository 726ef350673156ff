/** Rate of additions of a device, learned from its runs. */
import type { AdapterDescription } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import { gpuCoefficients } from './cost.js';
import { SUBMIT_MS, UNMEASURED_BOUND } from './device-defaults.js';

/** Least entries of a run that says something about the rate; latency dominates smaller runs. */
const LEAST_ENTRIES = 2 ** 18;

/**
 * Bounds the effect of one run, whose time may be wrong: a coarse clock, or a GPU that other
 * programs use.
 */
const LARGEST_CHANGE = 8;

/** Additions per millisecond that the bound of the first submits assumes. */
const UNMEASURED_RATE = UNMEASURED_BOUND / SUBMIT_MS;

/**
 * Returns additions per millisecond that can be relied on: the prior of the adapter, or less if its
 * runs were slower.
 *
 * @param learned the result of `learnedRate`
 */
export const safeRate = (curve: CurveContext, adapter: AdapterDescription, learned: number | null): number =>
  Math.min(1e6 / gpuCoefficients(curve, adapter).digitNs, learned ?? Number.POSITIVE_INFINITY);

/**
 * Returns the rate after a run, in additions per millisecond. The last run that kept the device
 * busy counts, because without timestamps the first run looks slow: its submits are short, and each
 * waits for the one before. A run changes the rate by a factor of 8 at most.
 *
 * @param before additions per millisecond; null before any run was long enough
 * @param ms time of the walk, or the shortest known time that contains it
 */
export const learnedRate = (before: number | null, entries: number, ms: number): number | null => {
  if (entries < LEAST_ENTRIES || !(ms > 0 && ms < Number.POSITIVE_INFINITY)) return before;
  const known = before ?? UNMEASURED_RATE;
  return Math.min(known * LARGEST_CHANGE, Math.max(known / LARGEST_CHANGE, entries / ms));
};
