/** Reports the rows of `cpu-distribution`. */
import { ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { formatMs, formatSize, formatSpeed, shortSize } from '../../format.js';
import { headline, notes, type Part, type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { fastestBy, grouped } from '../../summary.js';
import { intervalText, standingText } from '../../verdict-text.js';
import { STATIC } from './works.js';

type Shared = RowOf<'shared'>;

/** Returns the wall times of one way of sharing, in order of repetitions. */
type WallTimesOf = (of: Shared) => number[];

export function distributionResult(rows: readonly StampedRow[]): Parts {
  const works = grouped(rowsOf(rows, 'shared'), (row) => `${row.case} ${row.work}`);
  const wallTimes = new Map(
    grouped(rowsOf(rows, 'share'), keyOf).map((told) => [keyOf(told[0] as RowOf<'share'>), told] as const),
  );
  const wallTimesOf: WallTimesOf = (of) => (wallTimes.get(keyOf(of)) ?? []).map(({ wallMs }) => wallMs);
  const isOver = rowsOf(rows, 'end')[0]?.status === 'done';
  return [...(isOver ? overall(works, wallTimesOf) : []), ...works.map((ways) => sectionOf(ways, wallTimesOf))];
}

const keyOf = ({ case: name, work, setting }: Pick<Shared, 'case' | 'work' | 'setting'>): string =>
  `${name} ${work} ${setting}`;

/** Digits of factors, most of which are near 1. */
const DIGITS = 3;

const formatFactor = (factor: number): string => factor.toFixed(DIGITS);

const workersOf = ({ leastWorkers, mostWorkers }: Shared): string =>
  leastWorkers === mostWorkers ? String(mostWorkers) : `${leastWorkers} – ${mostWorkers}`;

const isWithoutWorkers = (ways: readonly Shared[]): boolean => ways.every(({ mostWorkers }) => mostWorkers === 0);

/** Reports one work. */
function sectionOf(ways: readonly Shared[], wallTimesOf: WallTimesOf): Part {
  const [{ work, n }] = ways as [Shared];
  const fastest = isWithoutWorkers(ways) ? null : fastestBy(ways, wallTimesOf);
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
    fastest && notes(`${fastest.best.setting}: ${standingText(fastest, ways.length, ({ setting }) => setting)}.`),
    isWithoutWorkers(ways)
      ? notes('No worker took part, because the sum is too small for workers; use more points.')
      : null,
  ];
  return { kind: 'section', caption: `${work}, ${formatSize(n)} points`, parts };
}

/** Reports all works in which workers took part. Each counts the same, however long it takes. */
function overall(all: readonly (readonly Shared[])[], wallTimesOf: WallTimesOf): Parts {
  const works = all.filter((ways) => !isWithoutWorkers(ways));
  const together = grouped(works.flat(), ({ setting }) => setting).map((rows) => {
    const ratios = rows.map(({ ratio }) => ratio.ratio);
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    return { setting: rows[0]?.setting ?? '', rows, ratios, mean, worst: Math.max(...ratios) };
  });
  const [best, ...others] = together.toSorted((a, b) => a.mean - b.mean);
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
        best.setting === STATIC
          ? `Fastest overall: ${STATIC} (geometric mean of ${works.length} inputs).`
          : `Fastest overall: ${best.setting}, ${formatSpeed(1 / best.mean)} than ${STATIC} (geometric mean of ${works.length} inputs; in the worst case ${formatSpeed(1 / best.worst)}).`,
        ...(close.length === 0 ? [] : [`For no input is it significantly faster than ${close.join('; ')}.`]),
      ].join(' '),
    ),
    tableOf(`Median ÷ median of ${STATIC}`, together, [
      ['Distribution', ({ setting }) => setting],
      ...works.map((rows, i) => {
        const [{ work, n }] = rows as [Shared];
        return [`${work}, ${shortSize(n)}`, ({ ratios }: typeof best) => formatFactor(ratios[i] as number)] as const;
      }),
      ['Geometric mean', ({ mean }) => ({ text: formatFactor(mean), as: 'strong' })],
    ]),
  ];
}
