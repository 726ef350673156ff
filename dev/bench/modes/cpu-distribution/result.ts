/** Rows and report of `cpu-distribution`. */
import { ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { formatMs, formatSize, formatSpeed, shortSize } from '../../format.js';
import { headline, notes, type Part, type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { fastestBy, grouped, intervalText, standingText } from '../../summary.js';
import type { conclude } from './index.js';
import { STATIC } from './works.js';

declare module '../../rows.js' {
  interface Rows {
    /**
     * One timed MSM on several threads, with bucket rows shared as `setting` names; it was correct.
     */
    readonly share: {
      readonly case: string;
      readonly n: number;
      /** Name of the work: its scalars, and whether a worker is slowed. */
      readonly work: string;
      readonly setting: string;
      /** Workers that the engine may have. */
      readonly permitted: number;
      readonly repetition: number;
      readonly wallMs: number;
      /** Workers that took part. */
      readonly workers: number;
      /** Bucket rows of a chunk. */
      readonly chunk: number;
    };
    /** Summary of a work with one way of sharing, and its ratio to equal shares. */
    readonly shared: ReturnType<typeof conclude>;
    /** Work on threads that this machine does not have, by the cost of its chunks on one. */
    readonly simulated: {
      readonly case: string;
      readonly n: number;
      readonly work: string;
      readonly setting: string;
      readonly threads: number;
      readonly ms: number;
      /** Ratio to contiguous equal shares. */
      readonly ratio: number;
    };
  }
}

type Shared = RowOf<'shared'>;

/** Returns the wall times of one way of sharing, in order of repetitions. */
type WallTimesOf = (of: Shared) => number[];

export function distributionResult(rows: readonly StampedRow[]): Parts {
  const works = grouped(rowsOf(rows, 'shared'), (row) => `${row.case} ${row.work} ${row.permitted}`);
  const wallTimes = new Map(
    grouped(rowsOf(rows, 'share'), keyOf).map((told) => [keyOf(told[0] as RowOf<'share'>), told] as const),
  );
  const wallTimesOf: WallTimesOf = (of) => (wallTimes.get(keyOf(of)) ?? []).map(({ wallMs }) => wallMs);
  const isOver = rowsOf(rows, 'end')[0]?.status === 'done';
  const byWorkers = grouped(works, ([first]) => String(first?.permitted));
  return [
    ...(isOver ? byWorkers.flatMap((some) => overall(some, wallTimesOf)) : []),
    ...simulatedTables(rowsOf(rows, 'simulated')),
    ...works.map((ways) => sectionOf(ways, wallTimesOf)),
  ];
}

type Key = Pick<Shared, 'case' | 'work' | 'setting' | 'permitted'>;

const keyOf = ({ case: name, work, setting, permitted }: Key): string => `${name} ${work} ${setting} ${permitted}`;

/** Digits of factors, most of which are near 1. */
const DIGITS = 3;

const formatFactor = (factor: number): string => factor.toFixed(DIGITS);

const workersOf = ({ leastWorkers, mostWorkers }: Shared): string =>
  leastWorkers === mostWorkers ? String(mostWorkers) : `${leastWorkers} – ${mostWorkers}`;

const hasWorkers = ({ mostWorkers }: Shared): boolean => mostWorkers > 0;

const isWithoutWorkers = (ways: readonly Shared[]): boolean => !ways.some(hasWorkers);

function sectionOf(ways: readonly Shared[], wallTimesOf: WallTimesOf): Part {
  const [{ work, n, permitted }] = ways as [Shared];
  const withWorkers = ways.filter(hasWorkers);
  const fastest = fastestBy(withWorkers, wallTimesOf);
  const parts: Parts = [
    tableOf('Total times; every result was checked', ways, [
      ['Distribution', ({ setting }) => setting],
      ['Median, ms', ({ medianMs }) => ({ text: formatMs(medianMs), as: 'strong' })],
      ['Range, ms', (row) => `${formatMs(Math.min(...wallTimesOf(row)))} – ${formatMs(Math.max(...wallTimesOf(row)))}`],
      [`÷ ${STATIC}`, ({ ratio }) => formatFactor(ratio.ratio)],
      ['95 % CI', ({ ratio }) => intervalText(ratio, DIGITS)],
      ['Rows per chunk', ({ chunk }) => (chunk === 0 ? '–' : String(chunk))],
      ['Workers', workersOf],
    ]),
    fastest &&
      notes(`${fastest.best.setting}: ${standingText(fastest, withWorkers.length, ({ setting }) => setting)}.`),
    isWithoutWorkers(ways)
      ? notes('No worker took part, because the sum is too small for workers; use more points.')
      : null,
  ];
  const workers = `up to ${permitted} ${permitted === 1 ? 'worker' : 'workers'}`;
  return { kind: 'section', caption: `${work}, ${formatSize(n)} points, ${workers}`, parts };
}

/** Reports simulated threads: a table for each number of them, with a column for each work. */
const simulatedTables = (rows: readonly RowOf<'simulated'>[]): Part[] =>
  grouped(rows, ({ threads }) => String(threads)).map((own) => {
    const works = grouped(own, ({ case: name, work }) => `${name} ${work}`);
    const settings = [...new Set(own.map(({ setting }) => setting))];
    return tableOf(`Simulated: ${own[0]?.threads} threads, total time ÷ that of ${STATIC}`, settings, [
      ['Distribution', (setting) => setting],
      ...works.map((ways) => {
        const [first] = ways;
        const head = `${first?.work}, ${shortSize(first?.n ?? 0)}`;
        const ratioOf = (setting: string) => ways.find((row) => row.setting === setting)?.ratio ?? Number.NaN;
        return [head, (setting: string) => formatFactor(ratioOf(setting))] as const;
      }),
    ]);
  });

/** Reports all works in which workers took part. Each counts the same, however long it takes. */
function overall(all: readonly (readonly Shared[])[], wallTimesOf: WallTimesOf): Parts {
  const works = all.filter((ways) => !isWithoutWorkers(ways));
  const together = grouped(works.flat(), ({ setting }) => setting).map((rows) => {
    const ratios = rows.map(({ ratio }) => ratio.ratio);
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    return { setting: rows[0]?.setting ?? '', rows, ratios, mean, worst: Math.max(...ratios) };
  });
  // a way in which no worker took part distributes nothing
  const eligible = together.filter((each) => each.rows.every(hasWorkers));
  const [best, ...others] = eligible.toSorted((a, b) => a.mean - b.mean);
  if (best === undefined) return [];
  const isSlower = (other: typeof best): boolean =>
    other.rows.some(
      (row, i) =>
        ratioOfMedians(wallTimesOf(best.rows[i] as Shared), wallTimesOf(row), { resamples: 2000 }).verdict ===
        'A is faster',
    );
  const close = others.filter((other) => !isSlower(other)).map(({ setting }) => setting);
  return [
    headline(
      [
        best.setting === STATIC || close.includes(STATIC)
          ? `Fastest overall: ${best.setting} (geometric mean of ${works.length} inputs).`
          : `Fastest overall: ${best.setting}, ${formatSpeed(1 / best.mean)} than ${STATIC} (geometric mean of ${works.length} inputs; in the worst case ${formatSpeed(1 / best.worst)}).`,
        ...(close.length === 0 ? [] : [`For no input is it significantly faster than ${close.join('; ')}.`]),
      ].join(' '),
    ),
    tableOf(`Median ÷ median of ${STATIC}, up to ${best.rows[0]?.permitted} workers`, together, [
      ['Distribution', ({ setting }) => setting],
      ...works.map((rows, i) => {
        const [{ work, n }] = rows as [Shared];
        return [`${work}, ${shortSize(n)}`, ({ ratios }: typeof best) => formatFactor(ratios[i] as number)] as const;
      }),
      ['Geometric mean', ({ mean }) => ({ text: formatFactor(mean), as: 'strong' })],
    ]),
  ];
}
