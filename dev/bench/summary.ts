/** What the rows of a run come to: medians by case and setting. The page draws it, Node prints it. */
import type { HostWalls, PhaseTime } from '../../src/api.js';
import { median, ratioOfMedians } from '../../src/calibrate/statistics.js';
import type { BoundRow, PeerRow, RepetitionRow, StampedRow, TraceRow, WarmUpRow } from './rows.js';

/** The repetitions of a case with one setting. */
export interface Timed {
  readonly case: string;
  readonly n: number;
  readonly setting: string;
  readonly repetitions: number;
  /** A single wrong answer takes all times away. */
  readonly wrong: boolean;
  readonly medianMs: number | null;
  readonly lowMs: number | null;
  readonly highMs: number | null;
  readonly wallsMs: readonly number[];
  readonly gpuMs: number | null;
  readonly productEquivalents: number | null;
  /** The wall of the repetition in the middle, and where it went: medians of parts would add up to no wall that there was. */
  readonly typicalMs: number | null;
  readonly walls: HostWalls | null;
  readonly phases: readonly PhaseTime[] | null;
  readonly warmUp: WarmUpRow | null;
  /** Where the last of them was computed. */
  readonly on: 'gpu' | 'cpu';
  /** Null also where the MSM was faster: then it is none. */
  readonly bound: BoundRow | null;
  readonly boundExceeded: boolean;
  /** The bound ÷ the median. */
  readonly ofBound: number | null;
}

export interface TimedPeer {
  readonly peer: string;
  readonly case: string;
  readonly n: number;
  readonly repetitions: number;
  readonly wrong: boolean;
  readonly medianMs: number | null;
  readonly lowMs: number | null;
  readonly highMs: number | null;
}

type TimedRow = RepetitionRow | TraceRow;

const isTimed = (row: StampedRow): row is StampedRow & TimedRow => row.event === 'repetition' || row.event === 'trace';

function grouped<Row>(rows: readonly Row[], key: (row: Row) => string): Row[][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups.values()];
}

const present = <Value>(values: readonly (Value | null)[]): Value[] => values.filter((value) => value !== null);

/** From the shortest to the longest, and the middle; null of nothing. */
const spanOf = (times: readonly number[]) => ({
  medianMs: median(times),
  lowMs: times.length === 0 ? null : Math.min(...times),
  highMs: times.length === 0 ? null : Math.max(...times),
});

/** The one of the middle wall; of two the faster. Null of none that has a wall. */
export function medianRepetition<Row extends { readonly wallMs: number | null }>(rows: readonly Row[]): Row | null {
  const timed = rows.filter(({ wallMs }) => wallMs !== null);
  return timed.sort((a, b) => (a.wallMs as number) - (b.wallMs as number))[(timed.length - 1) >> 1] ?? null;
}

/** Where the wall of the repetition in the middle went: its passes, and what of it is none: encoding, waiting, reading back. */
export function partsOfWall({ phases, typicalMs }: Pick<Timed, 'phases' | 'typicalMs'>): PhaseTime[] | null {
  if (phases === null || typicalMs === null) return null;
  const rest = typicalMs - phases.reduce((sum, { ms }) => sum + ms, 0);
  return [...phases, { name: 'host, waiting', ms: Math.max(0, rest) }];
}

/** By case and setting, in the order in which they were told. */
export function summarise(rows: readonly StampedRow[]): Timed[] {
  const keyOf = (row: { case: string; setting: string }): string => `${row.case} ${row.setting}`;
  const warmUps = new Map(rows.flatMap((row) => (row.event === 'warm-up' ? [[keyOf(row), row] as const] : [])));
  const bounds = new Map(rows.flatMap((row) => (row.event === 'bound' ? [[keyOf(row), row] as const] : [])));
  return grouped(rows.filter(isTimed), keyOf).map((group) => {
    const [first] = group as [StampedRow & TimedRow];
    const wrong = group.some(({ agrees }) => !agrees);
    const wallsMs = wrong ? [] : present(group.map(({ wallMs }) => wallMs));
    const span = spanOf(wallsMs);
    const typical = wrong ? null : medianRepetition(group);
    const bound = bounds.get(keyOf(first)) ?? null;
    const ofBound = bound === null || span.medianMs === null ? null : bound.ms / span.medianMs;
    const boundExceeded = ofBound !== null && ofBound > 1;
    return {
      case: first.case,
      n: first.n,
      setting: first.setting,
      repetitions: group.length,
      wrong,
      ...span,
      wallsMs,
      gpuMs: wrong ? null : median(present(group.map(({ gpuMs }) => gpuMs))),
      productEquivalents: wrong
        ? null
        : median(present(group.map((row) => (row.event === 'repetition' ? row.productEquivalents : null)))),
      typicalMs: typical?.wallMs ?? null,
      walls: typical?.walls ?? null,
      phases: typical?.phases ?? null,
      on: (group.at(-1) ?? first).on,
      warmUp: warmUps.get(keyOf(first)) ?? null,
      bound: boundExceeded ? null : bound,
      boundExceeded,
      ofBound: boundExceeded ? null : ofBound,
    };
  });
}

export function summarisePeers(rows: readonly StampedRow[]): TimedPeer[] {
  const own = rows.filter((row): row is StampedRow & PeerRow => row.event === 'peer');
  return grouped(own, (row) => `${row.case} ${row.peer}`).map((group) => {
    const [first] = group as [StampedRow & PeerRow];
    const wrong = group.some(({ agrees }) => !agrees);
    const walls = wrong ? [] : present(group.map(({ wallMs }) => wallMs));
    return {
      peer: first.peer,
      case: first.case,
      n: first.n,
      repetitions: group.length,
      wrong,
      ...spanOf(walls),
    };
  });
}

/** Which of several is fastest, and from which others their times do not tell it apart. */
export interface Fastest<One = Timed> {
  readonly best: One;
  /** Null where each of the others is slower by more than noise. */
  readonly notToldApartFrom: readonly One[] | null;
}

/**
 * By the same bootstrap over pairs as A against B: whatever is compared took turns, so that times of the same repetition are pairs.
 *
 * @param ones with the times of each, in the order of the repetitions; those without any do not take part
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
  return { best: best.one, notToldApartFrom: close.length === 0 ? null : close.map(({ one }) => one) };
}

/** @param timed of one case */
export const fastestOf = (timed: readonly Timed[]): Fastest | null => fastestBy(timed, ({ wallsMs }) => wallsMs);
