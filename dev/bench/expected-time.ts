/**
 * Estimates how long a run takes, from wall times on two cores with SwiftShader
 * (docs/reference/performance.md).
 */
import { type Knobs, needsGpu } from './knobs.js';
import { modeOf, seenOn } from './modes.js';

/**
 * Seconds of an MSM of n points: 132 ms at 2^12, 422 at 2^14, 1,381 at 2^16, plus 120 ms to measure
 * the product.
 */
const msmSeconds = (n: number): number => 0.155 + 2e-5 * n;

/** Seconds to make a point with a known logarithm, to load it, and to draw its scalar. */
const SECONDS_A_POINT = 1e-4;

/** Seconds until the first MSM of a setting is done. */
const COMPILING_SECONDS = 2;

/** Shorter runs get no estimate. */
const LONG_SECONDS = 20;

const spell = (seconds: number): string =>
  seconds < 90 ? `${Math.round(seconds / 10) * 10} s` : `${Math.round(seconds / 60)} min`;

/** Returns a line that warns of a long run; null for a short one. */
export function expectedLine(knobs: Knobs): string | null {
  const { mode, cases, settings, reps } = knobs;
  if (mode === null) return null;
  const { timesCases, takes } = modeOf(mode);
  if (!timesCases) {
    return `With its defaults this takes ${takes} on ${seenOn(mode)}.`;
  }
  // the estimate holds for a GPU only
  if (!needsGpu(knobs)) return null;
  const each = cases.reduce(
    (sum, { address: { n } }) => sum + SECONDS_A_POINT * n + (reps + 2) * msmSeconds(n),
    COMPILING_SECONDS,
  );
  const seconds = each * settings.length;
  return seconds < LONG_SECONDS ? null : `About ${spell(seconds)} on two cores with a software GPU.`;
}
