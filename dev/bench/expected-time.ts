/** How long a run will take, before it begins: from walls that were measured on two cores with SwiftShader (docs/performance.md). */
import { type Knobs, needsGpu } from './knobs.js';
import { modes, msmModes, seenOn } from './modes.js';

/** An MSM of n points, 132 ms at 2^12, 422 at 2^14, 1,381 at 2^16, and 120 ms of the product beside it. */
const msmSeconds = (n: number): number => 0.155 + 2e-5 * n;

/** To make a point with its logarithm, to load it, and to draw a scalar. */
const SECONDS_A_POINT = 1e-4;

/** Until the first MSM of a setting is there. */
const COMPILING_SECONDS = 2;

/** Below this nobody wants to know. */
const LONG_SECONDS = 20;

const spell = (seconds: number): string =>
  seconds < 90 ? `${Math.round(seconds / 10) * 10} s` : `${Math.round(seconds / 60)} min`;

/** A line to say beforehand where it will be long; null where it will not. */
export function expectedLine(knobs: Knobs): string | null {
  const { mode, cases, settings, reps } = knobs;
  if (mode === null) return null;
  if (!msmModes.includes(mode)) {
    return `With its defaults this takes ${modes[mode].takes} on ${seenOn(mode)}.`;
  }
  // the walls are a GPU's
  if (!needsGpu(knobs)) return null;
  const each = cases.reduce(
    (sum, { address: { n } }) => sum + SECONDS_A_POINT * n + (reps + 2) * msmSeconds(n),
    COMPILING_SECONDS,
  );
  const seconds = each * settings.length;
  return seconds < LONG_SECONDS ? null : `About ${spell(seconds)} on two cores that play GPU.`;
}
