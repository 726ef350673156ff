/** Findings about targets, and their verdicts. */
import { median, ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { type Cell, type Part, tableOf } from '../../parts.js';
import type { RowOf } from '../../rows.js';

export type Target = { readonly most: number } | { readonly least: number };

/** A line of the table of findings. */
export interface Finding {
  readonly what: string;
  /** Null if the value is informational. */
  readonly target: Target | null;
  /** Null if not measured. */
  readonly value: number | null;
  /** Confidence interval; null if the repetitions give none; absent for counts. */
  readonly interval?: readonly [low: number, high: number] | null;
  readonly unit?: string;
  /** Reason why it was not measured, or a remark about the value. */
  readonly note?: string;
  /** Error text; the value is then void. */
  readonly failure?: string;
}

export const verdicts = ['met', 'MISSED', 'FAILED', 'no verdict', 'not measured'] as const;

export function verdictOf({ target, value, interval, failure }: Finding): (typeof verdicts)[number] {
  if (failure !== undefined) return 'FAILED';
  if (value === null) return 'not measured';
  // NaN and infinity are failures, not merely missed targets
  if (!Number.isFinite(value)) return 'FAILED';
  if (target === null || interval === null) return 'no verdict';
  const [low, high] = interval ?? [value, value];
  const [met, missed] =
    'most' in target ? [high <= target.most, low > target.most] : [low >= target.least, high < target.least];
  return met ? 'met' : missed ? 'MISSED' : 'no verdict';
}

/** Returns a text that counts failed and, if strict, missed findings; null if there are none. */
export function failureOf(findings: readonly Finding[], strict: boolean): string | null {
  const count = (verdict: string): number => findings.filter((finding) => verdictOf(finding) === verdict).length;
  const [failed, missed] = [count('FAILED'), strict ? count('MISSED') : 0];
  return failed + missed === 0 ? null : `${failed} failed${strict ? `, ${missed} missed` : ''}`;
}

/** Probability that the median lies outside its interval. */
const OUTSIDE = 0.05;

/**
 * Returns how many of n sorted values to drop at either end so that the true median still lies
 * between the others with 95 % probability. It holds for any distribution, because each value is
 * below the true median with probability ½. Of few values none is dropped, although that gives less
 * than 95 %.
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

/** Returns the median of some times in `unit`, with its interval. */
export function middleOf(values: readonly number[], unit = 1): Pick<Finding, 'value' | 'interval'> {
  const sorted = values.map((value) => value / unit).sort((a, b) => a - b);
  const out = leftOut(sorted.length);
  const [low = Number.NaN, high = Number.NaN] = [sorted[out], sorted[sorted.length - 1 - out]];
  return { value: median(sorted) ?? Number.NaN, interval: sorted.length < 2 ? null : [low, high] };
}

/** Returns the median of some times ÷ that of others, with the interval over the pairs. */
export function ratioFinding(others: readonly number[], own: readonly number[]): Pick<Finding, 'value' | 'interval'> {
  const { ratio, low, high } = ratioOfMedians(others, own);
  return { value: ratio, interval: own.length < 2 ? null : [low, high] };
}

export const notMeasured = (what: string, target: Target | null, why: string): Finding => ({
  what,
  target,
  value: null,
  note: why,
});

export const needs = (logn: number): string => `needs --logn ${logn}`;

export const round = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));

const spell = (target: Target): string => ('most' in target ? `≤ ${target.most}` : `≥ ${target.least}`);

const measuredOf = ({ value, interval, unit = '' }: Finding): string => {
  if (value === null) return '';
  const range = interval ? ` (${round(interval[0])} to ${round(interval[1])})` : '';
  return `${round(value)}${unit && ` ${unit}`}${range}`;
};

/** Returns the verdict with its remark below. */
function verdictCell(finding: Finding): Cell {
  const text = verdictOf(finding);
  const small = finding.failure ?? finding.note;
  const as = text === 'met' ? 'right' : text === 'MISSED' || text === 'FAILED' ? 'wrong' : undefined;
  return { text, ...(as && { as }), ...(small !== undefined && { small }) };
}

/** Returns a table with a line for each finding; the first finding of a row names the row. */
export const findingsTable = (caption: string, told: readonly Pick<RowOf<'target'>, 'name' | 'findings'>[]): Part =>
  tableOf(
    caption,
    told.flatMap(({ name, findings }) => findings.map((finding, i) => ({ ...finding, row: i === 0 ? name : '' }))),
    [
      ['Group', ({ row }) => row],
      ['Quantity', ({ what }) => what],
      ['Target', ({ target }) => (target === null ? '' : spell(target))],
      ['Measured', measuredOf],
      ['Verdict', verdictCell],
    ],
    { words: 5, fits: true },
  );
