/** What `cpu-distribution` shows. */
import { ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { formatMs, formatSize, shortSize } from '../../format.js';
import { notes, type Part, type Parts, tableOf, tiles } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { fastestBy, grouped } from '../../summary.js';
import { intervalWords, standingWords } from '../../words.js';
import { STATIC } from './works.js';

type Shared = RowOf<'shared'>;

/** The walls of what was shared in one way, in the order of the repetitions. */
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

/** Most of these are near 1. */
const DIGITS = 3;

const formatFactor = (factor: number): string => factor.toFixed(DIGITS);

const workersOf = ({ leastWorkers, mostWorkers }: Shared): string =>
  leastWorkers === mostWorkers ? String(mostWorkers) : `${leastWorkers} – ${mostWorkers}`;

const isWithoutWorkers = (ways: readonly Shared[]): boolean => ways.every(({ mostWorkers }) => mostWorkers === 0);

/** One work. */
function sectionOf(ways: readonly Shared[], wallTimesOf: WallTimesOf): Part {
  const [{ work, n }] = ways as [Shared];
  const fastest = isWithoutWorkers(ways) ? null : fastestBy(ways, wallTimesOf);
  const parts: Parts = [
    tableOf('Wall times; every result was checked', ways, [
      ['Rows to threads', ({ setting }) => setting],
      ['Median, ms', ({ medianMs }) => ({ text: formatMs(medianMs), as: 'strong' })],
      ['From – to', (row) => `${formatMs(Math.min(...wallTimesOf(row)))} – ${formatMs(Math.max(...wallTimesOf(row)))}`],
      [`÷ ${STATIC}`, ({ ratio }) => formatFactor(ratio.ratio)],
      ['95 % interval', ({ ratio }) => intervalWords(ratio, DIGITS)],
      ['Rows a chunk', ({ chunk }) => (chunk === 0 ? '–' : String(chunk))],
      ['Workers', workersOf],
    ]),
    fastest && notes(`${fastest.best.setting}: ${standingWords(fastest, ways.length, ({ setting }) => setting)}.`),
    isWithoutWorkers(ways) ? notes('No worker took part: there is too little to do for one. Take more points.') : null,
  ];
  return { kind: 'section', caption: `${work}, ${formatSize(n)} points`, parts };
}

/** All works together in which workers took part: each counts as much as any other, however long it takes. */
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
    tiles([
      'Least overall',
      best.setting,
      [
        `${formatFactor(best.mean)} times as long as ${STATIC}, the geometric mean of ${works.length} works`,
        `${formatFactor(best.worst)} in the worst of them`,
        ...(close.length === 0 ? [] : [`in none of them is it faster by more than noise than ${close.join('; ')}`]),
      ].join('; '),
    ]),
    tableOf(`Medians ÷ that of ${STATIC}`, together, [
      ['Rows to threads', ({ setting }) => setting],
      ...works.map((rows, i) => {
        const [{ work, n }] = rows as [Shared];
        return [`${work}, ${shortSize(n)}`, ({ ratios }: typeof best) => formatFactor(ratios[i] as number)] as const;
      }),
      ['Geometric mean', ({ mean }) => ({ text: formatFactor(mean), as: 'strong' })],
    ]),
  ];
}
