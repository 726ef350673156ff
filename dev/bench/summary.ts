/** Summarises the rows of a run: medians by case and setting, for the page and for terminals. */
import type { HostTimes, PhaseTime } from '../../src/api/run-record.js';
import {
  leastPairs,
  median,
  type RatioOfMedians,
  ratioOfMedians,
  type Verdict,
} from '../../src/calibrate/statistics.js';
import { formatSpeed } from './format.js';
import { present } from './parts.js';
import { type RowOf, rowsOf, type StampedRow } from './rows.js';

interface Span {
  readonly case: string;
  readonly n: number;
  readonly repetitions: number;
  /** True if any answer was wrong; then there are no times. */
  readonly wrong: boolean;
  readonly medianMs: number | null;
  readonly lowMs: number | null;
  readonly highMs: number | null;
}

/** Summary of a case with one setting. */
export interface Timed extends Span {
  readonly setting: string;
  readonly wallTimesMs: readonly number[];
  readonly gpuMs: number | null;
  /**
   * Wall time of the median repetition. Its breakdown is below: medians of the parts would not add
   * up to any measured wall time.
   */
  readonly typicalMs: number | null;
  readonly hostTimes: HostTimes | null;
  readonly phases: readonly PhaseTime[] | null;
  readonly warmUp: RowOf<'warm-up'> | null;
  /** Backend that computed the last repetition. */
  readonly on: 'gpu' | 'cpu' | 'both';
  /** Null also if the MSM was faster, because the value is then not a bound. */
  readonly bound: RowOf<'bound'> | null;
  readonly boundExceeded: boolean;
  /** The bound divided by the median. */
  readonly ofBound: number | null;
}

export interface TimedPeer extends Span {
  readonly peer: string;
  readonly wallTimesMs: readonly number[];
}

type TimedRow = RowOf<'repetition'> | RowOf<'trace'>;

const isTimed = (row: StampedRow): row is StampedRow & TimedRow => row.event === 'repetition' || row.event === 'trace';

export function grouped<Row>(rows: readonly Row[], key: (row: Row) => string): Row[][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups.values()];
}

const spanOf = (group: readonly (StampedRow & (TimedRow | RowOf<'peer'>))[]): Span & { wallTimesMs: number[] } => {
  const [first] = group as [(typeof group)[0]];
  const wrong = group.some(({ agrees }) => !agrees);
  const wallTimesMs = wrong ? [] : present(group.map(({ wallMs }) => wallMs));
  return {
    case: first.case,
    n: first.n,
    repetitions: group.length,
    wrong,
    wallTimesMs,
    medianMs: median(wallTimesMs),
    lowMs: wallTimesMs.length === 0 ? null : Math.min(...wallTimesMs),
    highMs: wallTimesMs.length === 0 ? null : Math.max(...wallTimesMs),
  };
};

/** Returns the repetition with the median wall time, the faster of two; null if none has a time. */
export function medianRepetition<Row extends { readonly wallMs: number | null }>(rows: readonly Row[]): Row | null {
  const timed = rows.filter(({ wallMs }) => wallMs !== null);
  return timed.sort((a, b) => (a.wallMs as number) - (b.wallMs as number))[(timed.length - 1) >> 1] ?? null;
}

/**
 * Returns the breakdown of the median repetition: its passes, and the rest (encoding, waiting,
 * reading back).
 */
export function partsOfWallTime({ phases, typicalMs }: Pick<Timed, 'phases' | 'typicalMs'>): PhaseTime[] | null {
  if (phases === null || typicalMs === null) return null;
  const rest = typicalMs - phases.reduce((sum, { ms }) => sum + ms, 0);
  return [...phases, { name: 'host, waiting', ms: Math.max(0, rest) }];
}

/** Returns the breakdown of the median repetition by the host's clock. */
export const partsByHost = ({ hostTimes }: Pick<Timed, 'hostTimes'>): PhaseTime[] | null =>
  hostTimes && [
    { name: 'encode', ms: hostTimes.encodeMs },
    { name: 'submit to result', ms: hostTimes.submitToResultMs },
    { name: 'read back, combine windows', ms: hostTimes.readBackMs },
  ];

/** Returns summaries by case and setting, in order of appearance. */
export function summarise(rows: readonly StampedRow[]): Timed[] {
  const keyOf = (row: { case: string; setting: string }): string => `${row.case} ${row.setting}`;
  const warmUps = new Map(rows.flatMap((row) => (row.event === 'warm-up' ? [[keyOf(row), row] as const] : [])));
  const bounds = new Map(rows.flatMap((row) => (row.event === 'bound' ? [[keyOf(row), row] as const] : [])));
  return grouped(rows.filter(isTimed), keyOf).map((group) => {
    const [first] = group as [StampedRow & TimedRow];
    const span = spanOf(group);
    // one wrong answer voids all times of the case with this setting
    const own = span.wrong ? [] : group;
    const typical = medianRepetition(own);
    const bound = bounds.get(keyOf(first)) ?? null;
    const ofBound = bound === null || span.medianMs === null ? null : bound.ms / span.medianMs;
    const boundExceeded = ofBound !== null && ofBound > 1;
    return {
      ...span,
      setting: first.setting,
      gpuMs: median(present(own.map(({ gpuMs }) => gpuMs))),
      typicalMs: typical?.wallMs ?? null,
      hostTimes: typical?.hostTimes ?? null,
      phases: typical?.phases ?? null,
      on: (group.at(-1) ?? first).on,
      warmUp: warmUps.get(keyOf(first)) ?? null,
      bound: boundExceeded ? null : bound,
      boundExceeded,
      ofBound: boundExceeded ? null : ofBound,
    };
  });
}

export const summarisePeers = (rows: readonly StampedRow[]): TimedPeer[] =>
  grouped(rowsOf(rows, 'peer'), (row) => `${row.case} ${row.peer}`).map((group) => ({
    ...spanOf(group),
    peer: group[0]?.peer ?? '',
  }));

/** The fastest of several, and those that are not significantly slower. */
export interface Fastest<One = Timed> {
  readonly best: One;
  /** Null if each of the others is slower by more than noise. */
  readonly notToldApartFrom: readonly One[] | null;
  /** True if there are too few repetitions for a verdict. */
  readonly isTooFew: boolean;
}

/**
 * Finds the fastest by the bootstrap over pairs that A against B uses. The subjects are
 * interleaved, so the times of one repetition form a pair.
 *
 * @param timesOf returns the times of one subject in order of repetitions; subjects without times
 *   are ignored
 */
export function fastestBy<One>(ones: readonly One[], timesOf: (one: One) => readonly number[]): Fastest<One> | null {
  const timed = ones.map((one) => ({ one, times: timesOf(one) })).filter(({ times }) => times.length > 0);
  const [best, ...others] = timed.sort((a, b) => (median(a.times) as number) - (median(b.times) as number));
  if (best === undefined) return null;
  const close = others.filter(({ times }) => {
    const pairs = Math.min(best.times.length, times.length);
    const [a, b] = [best.times.slice(0, pairs), times.slice(0, pairs)];
    if (Math.min(...a, ...b) <= 0) return true;
    return ratioOfMedians(a, b, { resamples: 2000 }).verdict !== 'A is faster';
  });
  return {
    best: best.one,
    notToldApartFrom: close.length === 0 ? null : close.map(({ one }) => one),
    isTooFew: best.times.length < leastPairs,
  };
}

/** @param timed summaries of one case */
export const fastestOf = (timed: readonly Timed[]): Fastest | null =>
  fastestBy(timed, ({ wallTimesMs }) => wallTimesMs);

/** Probability of an error that a verdict may have. */
const SIGNIFICANCE = 0.05;

/** Returns how often all of n values are below all of m others of the same distribution. */
function separation(n: number, m: number): number {
  let ways = 1;
  for (let i = 1; i <= n; i++) ways = (ways * (m + i)) / i;
  return 1 / ways;
}

/**
 * Compares times that were taken in turns. With enough pairs the interval of `ratioOfMedians`
 * decides. A peer has fewer repetitions; then the ranges must not overlap, and samples of that size
 * must rarely be apart by chance (the permutation test, Fisher 1935, for its most extreme outcome).
 *
 * @param times of the subject, in order of repetitions
 * @param others times of what it is compared with, in the same order
 */
export function compareTimes(times: readonly number[], others: readonly number[]): Verdict {
  const pairs = Math.min(times.length, others.length);
  if (pairs >= leastPairs) return ratioOfMedians(times.slice(0, pairs), others.slice(0, pairs)).verdict;
  if (pairs === 0 || 2 * separation(times.length, others.length) > SIGNIFICANCE) return 'too few pairs';
  if (Math.max(...times) < Math.min(...others)) return 'A is faster';
  return Math.max(...others) < Math.min(...times) ? 'B is faster' : 'no difference';
}

/** Returns a comparison as `1.4 × faster than noble`; a factor only where times have a verdict. */
export function speedText(times: readonly number[], others: readonly number[], name: string): string {
  switch (compareTimes(times, others)) {
    case 'no difference':
      return `no significant difference to ${name}`;
    case 'too few pairs':
      return `too few repetitions to compare it with ${name}`;
    default:
      return `${formatSpeed((median(others) as number) / (median(times) as number))} than ${name}`;
  }
}

export const verdictText = ({ wallTimes: { verdict } }: RowOf<'comparison'>): string =>
  verdict === 'no difference' ? 'no significant difference' : verdict;

/** Returns the ratio of a comparison with its interval: `B/A 1.07, 95 % CI 0.74 to 1.39`. */
function ratioText(of: RatioOfMedians): string {
  const digits = Math.abs(of.ratio - 1) < 0.02 ? 3 : 2;
  const interval = of.verdict === 'too few pairs' ? '' : `, 95 % CI ${intervalText(of, digits)}`;
  return `B/A ${of.ratio.toFixed(digits)}${interval}`;
}

/** Returns the sentence that says the result of a comparison. */
export function comparisonText({ a, b, pairs, wallTimes }: RowOf<'comparison'>): string {
  const { ratio, verdict } = wallTimes;
  const measured = `(${ratioText(wallTimes)})`;
  switch (verdict) {
    case 'A is faster':
      return `A (${a}) is ${formatSpeed(ratio)} than B (${b}) ${measured}.`;
    case 'B is faster':
      return `B (${b}) is ${formatSpeed(1 / ratio)} than A (${a}) ${measured}.`;
    case 'no difference':
      return `No significant difference ${measured}.`;
    case 'too few pairs':
      return `Too few pairs for a verdict: ${pairs}, and ${leastPairs} are needed ${measured}.`;
  }
}

/** Formats the 95 % interval of a ratio; too few pairs have none. */
export const intervalText = ({ low, high, verdict }: RatioOfMedians, digits = 2): string =>
  verdict === 'too few pairs' ? '–' : `${low.toFixed(digits)} to ${high.toFixed(digits)}`;

/** Formats the rank of the best median among several. */
export const standingText = <One>(
  { notToldApartFrom, isTooFew }: Fastest<One>,
  among: number,
  nameOf: (one: One) => string,
): string => {
  if (notToldApartFrom === null) return `the fastest of ${among}`;
  return isTooFew
    ? `the lowest median of ${among}, from too few repetitions for a verdict`
    : `the lowest median of ${among}, but not significantly faster than ${notToldApartFrom.map(nameOf).join('; ')}`;
};
