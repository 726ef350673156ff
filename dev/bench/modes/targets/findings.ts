/** What was found about a target, and what that means. */
import { median, type RatioOfMedians } from '../../../../src/calibrate/statistics.js';

export type Target = { readonly most: number } | { readonly least: number };

/** A line of the table. */
export interface Finding {
  readonly what: string;
  /** Null: the value is for information only. */
  readonly target: Target | null;
  /** Null: not measured. */
  readonly value: number | null;
  /** Where the value lies, as far as the repetitions tell; null if they tell nothing. What has none was counted, not timed. */
  readonly interval?: readonly [low: number, high: number] | null;
  readonly unit?: string;
  /** Why it was not measured, or what is to be known about the value. */
  readonly note?: string;
  /** What went wrong; then no value counts. */
  readonly failure?: string;
}

export const verdicts = ['met', 'MISSED', 'FAILED', 'no verdict', 'not measured'] as const;

export function verdictOf({ target, value, interval, failure }: Finding): (typeof verdicts)[number] {
  if (failure !== undefined) return 'FAILED';
  if (value === null) return 'not measured';
  // no time and no ratio is that; it must not pass for a target that is merely missed
  if (!Number.isFinite(value)) return 'FAILED';
  if (target === null || interval === null) return 'no verdict';
  const [low, high] = interval ?? [value, value];
  const [met, missed] =
    'most' in target ? [high <= target.most, low > target.most] : [low >= target.least, high < target.least];
  return met ? 'met' : missed ? 'MISSED' : 'no verdict';
}

/** Null where nothing failed, nor, if asked for, was missed. */
export function failureOf(findings: readonly Finding[], strict: boolean): string | null {
  const count = (verdict: string): number => findings.filter((finding) => verdictOf(finding) === verdict).length;
  const [failed, missed] = [count('FAILED'), strict ? count('MISSED') : 0];
  return failed + missed === 0 ? null : `${failed} failed${strict ? `, ${missed} missed` : ''}`;
}

/** How often the median may lie outside its interval. */
const OUTSIDE = 0.05;

/**
 * How many of n times may be left out at either end, so that the median still lies between those that stay 95 times in 100, whatever the
 * distribution is: each time is below the true median with probability ½. Of too few none may, though that is no 95 % yet.
 */
function leftOut(n: number): number {
  let count = 0;
  let term = 2 ** -n;
  for (let below = term; 2 * below <= OUTSIDE; below += term) {
    count++;
    term *= (n - count + 1) / count;
  }
  return Math.max(0, count - 1);
}

/** The median of some times, told in `unit`, and where that lies. */
export function middleOf(values: readonly number[], unit = 1): Pick<Finding, 'value' | 'interval'> {
  const sorted = values.map((value) => value / unit).sort((a, b) => a - b);
  const out = leftOut(sorted.length);
  const [low = Number.NaN, high = Number.NaN] = [sorted[out], sorted[sorted.length - 1 - out]];
  return { value: median(sorted) ?? Number.NaN, interval: sorted.length < 2 ? null : [low, high] };
}

/** A ratio of medians with the interval that its pairs give it. */
export const ratioFinding = (
  { ratio, low, high }: RatioOfMedians,
  pairs: number,
): Pick<Finding, 'value' | 'interval'> => ({
  value: ratio,
  interval: pairs < 2 ? null : [low, high],
});

export const notMeasured = (what: string, target: Target | null, why: string): Finding => ({
  what,
  target,
  value: null,
  note: why,
});

export const needs = (logn: number): string => `needs --logn ${logn}`;

export const round = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
