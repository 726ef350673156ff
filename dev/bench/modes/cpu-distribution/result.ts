/** What `cpu-distribution` shows. */
import { formatMs, formatSize } from '../../format.js';
import { notes, type Part, type Parts, tableOf, tiles } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { fastestBy, grouped } from '../../summary.js';
import { standingWords } from '../../words.js';
import { STATIC } from './works.js';

export function distributionResult(rows: readonly StampedRow[]): Parts {
  const shared = rowsOf(rows, 'shared');
  const works = grouped(shared, (row) => `${row.case} ${row.work}`);
  const isOver = rowsOf(rows, 'end')[0]?.status === 'done';
  return [...(isOver ? overall(works) : []), ...works.map((ways) => sectionOf(ways, rowsOf(rows, 'share')))];
}

const titleOf = ({ work, n }: RowOf<'shared'>): string => `${work}, ${formatSize(n)} points`;

/** In hundredths: most of these are near 1. */
const formatFactor = (factor: number): string => factor.toFixed(3);

const workersOf = ({ leastWorkers, mostWorkers }: RowOf<'shared'>): string =>
  leastWorkers === mostWorkers ? String(mostWorkers) : `${leastWorkers} – ${mostWorkers}`;

/** One work. */
function sectionOf(ways: readonly RowOf<'shared'>[], told: readonly RowOf<'share'>[]): Part {
  const [first] = ways as [RowOf<'shared'>];
  const wallsOf = ({ case: name, work, setting }: RowOf<'shared'>): number[] =>
    told.flatMap((row) => (row.case === name && row.work === work && row.setting === setting ? [row.wallMs] : []));
  const fastest = fastestBy(ways, wallsOf);
  const parts: Parts = [
    tableOf('Wall times; every result was checked', ways, [
      ['Rows to threads', ({ setting }) => setting],
      ['Median, ms', ({ medianMs }) => ({ text: formatMs(medianMs), as: 'strong' })],
      ['From – to', (row) => `${formatMs(Math.min(...wallsOf(row)))} – ${formatMs(Math.max(...wallsOf(row)))}`],
      [`÷ ${STATIC}`, ({ ratio }) => formatFactor(ratio.ratio)],
      ['95 % interval', ({ ratio: { low, high } }) => `${formatFactor(low)} to ${formatFactor(high)}`],
      ['Rows a chunk', ({ chunk }) => String(chunk)],
      ['Workers', workersOf],
    ]),
    fastest && notes(`${fastest.best.setting}: ${standingWords(fastest, ways.length, ({ setting }) => setting)}.`),
    first.mostWorkers === 0 ? notes('No worker took part: there is too little to do for one. Take more points.') : null,
  ];
  return { kind: 'section', caption: titleOf(first), parts };
}

/** All works together: each counts as much as any other, however long it takes. */
function overall(works: readonly (readonly RowOf<'shared'>[])[]): Parts {
  const together = grouped(works.flat(), ({ setting }) => setting).map((rows) => {
    const ratios = rows.map(({ ratio }) => ratio.ratio);
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    return { setting: rows[0]?.setting ?? '', ratios, mean, worst: Math.max(...ratios) };
  });
  const [best] = together.toSorted((a, b) => a.mean - b.mean);
  if (best === undefined) return [];
  return [
    tiles([
      'Best overall',
      best.setting,
      `${formatFactor(best.mean)} times as long as ${STATIC}, the geometric mean of ${works.length} works; ${formatFactor(best.worst)} in the worst of them`,
    ]),
    tableOf(`Medians ÷ that of ${STATIC}`, together, [
      ['Rows to threads', ({ setting }) => setting],
      ...works.map(
        (rows, i) =>
          [
            titleOf(rows[0] as RowOf<'shared'>),
            ({ ratios }: (typeof together)[0]) => formatFactor(ratios[i] as number),
          ] as const,
      ),
      ['Geometric mean', ({ mean }) => ({ text: formatFactor(mean), as: 'strong' })],
    ]),
  ];
}
