/** What the rows of a run come to: medians by case and setting. The page draws it, Node prints it. */
import type { HostWalls, PhaseTime } from '../../src/api.js';
import type { BoundRow, PeerRow, RepetitionRow, StampedRow, TraceRow, WarmUpRow } from './rows.js';
import { median, ratioOfMedians } from './statistics.js';

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
  /** Medians, each of its own. */
  readonly walls: HostWalls | null;
  readonly phases: readonly PhaseTime[] | null;
  readonly warmUp: WarmUpRow | null;
  /** Where the last of them was computed. */
  readonly on: 'gpu' | 'cpu';
  readonly bound: BoundRow | null;
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

/** Median of each phase over the runs, in the order of the first. */
export function medianPhases(runs: readonly (readonly PhaseTime[])[]): PhaseTime[] | null {
  const names = [...new Set(runs.flatMap((phases) => phases.map(({ name }) => name)))];
  if (names.length === 0) return null;
  return names.map((name) => ({
    name,
    ms: median(runs.flatMap((phases) => phases.filter((phase) => phase.name === name).map(({ ms }) => ms))) ?? 0,
  }));
}

function medianWalls(all: readonly HostWalls[]): HostWalls | null {
  if (all.length === 0) return null;
  const of = (name: keyof HostWalls): number => median(all.map((walls) => walls[name])) ?? 0;
  return { encodeMs: of('encodeMs'), submitToResultMs: of('submitToResultMs'), readBackMs: of('readBackMs') };
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
    return {
      case: first.case,
      n: first.n,
      setting: first.setting,
      repetitions: group.length,
      wrong,
      ...spanOf(wallsMs),
      wallsMs,
      gpuMs: wrong ? null : median(present(group.map(({ gpuMs }) => gpuMs))),
      productEquivalents: wrong
        ? null
        : median(present(group.map((row) => (row.event === 'repetition' ? row.productEquivalents : null)))),
      walls: wrong ? null : medianWalls(present(group.map(({ walls }) => walls))),
      phases: wrong ? null : medianPhases(present(group.map(({ phases }) => phases))),
      on: (group.at(-1) ?? first).on,
      warmUp: warmUps.get(keyOf(first)) ?? null,
      bound: bounds.get(keyOf(first)) ?? null,
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

/** Which of several settings is fastest at a size, and from which others the repetitions do not tell it apart. */
export interface Fastest {
  readonly best: Timed;
  /** Null where each of the others is slower by more than noise. */
  readonly notToldApartFrom: readonly Timed[] | null;
}

/**
 * By the same bootstrap over pairs as A against B: settings take turns, so that their repetitions are pairs.
 *
 * @param timed of one case
 */
export function fastestOf(timed: readonly Timed[]): Fastest | null {
  const right = timed.filter(({ medianMs }) => medianMs !== null);
  const [best, ...others] = right.toSorted((a, b) => (a.medianMs as number) - (b.medianMs as number));
  if (best === undefined) return null;
  const close = others.filter(({ wallsMs }) => {
    const pairs = Math.min(best.wallsMs.length, wallsMs.length);
    const [a, b] = [best.wallsMs.slice(0, pairs), wallsMs.slice(0, pairs)];
    if (Math.min(...a, ...b) <= 0) return true;
    return ratioOfMedians(a, b, { resamples: 2000 }).verdict !== 'A is faster';
  });
  return { best, notToldApartFrom: close.length === 0 ? null : close };
}
