/** `accum-ab`: two settings, two builds, or two groups of a curve, strictly in turns on the same inputs, and whether their difference is more than noise. */

import { median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { type CaseAddress, defaultGroup, formatCaseAddress, parseCaseAddress } from '../../cases/address.js';
import { formatMs, shortSize } from '../format.js';
import { notes, type Part, type Parts, type Tile, tableOf, tiles, verdict } from '../parts.js';
import { type RowOf, rowsOf } from '../rows.js';
import { grouped, summarise, type Timed } from '../summary.js';
import { runTimings, type Times } from '../timings.js';
import { comparisonWords, equivalentsWords, intervalWords } from '../words.js';
import type { BenchMode } from './mode.js';
import { fromTo, pointsOf, remarks, whereItGoes } from './timings-result.js';

export const accumAb: BenchMode = {
  run: (run, host, knobs) =>
    runTimings(run, host, knobs, {
      labels: ['A', 'B'],
      conclude: (address, times) => compare(address, times as readonly [Times, Times], knobs.seed),
    }),
  show(rows) {
    const [a = 'A', b = 'B'] = rowsOf(rows, 'init')[0]?.settings ?? [];
    const timed = summarise(rows).toSorted((x, y) => x.setting.localeCompare(y.setting));
    const comparisons = rowsOf(rows, 'comparison');
    const cases = grouped(timed, ({ case: name }) => withoutGroup(name));
    return [
      cases.length > 1 && comparisons.length > 0 ? overAll(comparisons, cases.length) : null,
      ...cases.map((sides) => {
        const ofBoth = withoutGroup((sides[0] as Timed).case);
        const told = comparisons.find((row) => withoutGroup(row.case) === ofBoth);
        return sectionOf(sides, { A: a, B: b }, { told, isOnlyOne: cases.length === 1 });
      }),
    ];
  },
};

/** The one verdict of several sizes; which size says what is its note. */
function overAll(comparisons: readonly RowOf<'comparison'>[], of: number): Part {
  const said = grouped(comparisons, (row) => comparisonWords(row)[0]).map((rows) => ({
    words: comparisonWords(rows[0] as RowOf<'comparison'>)[0],
    sizes: rows.map(({ n }) => shortSize(n)).join(', '),
  }));
  const sofar = comparisons.length < of ? [`${comparisons.length} of ${of} sizes so far`] : [];
  const [first] = said;
  const words = said.length === 1 ? (first?.words ?? '') : 'It depends on the size';
  const about = said.length === 1 ? `at ${first?.sizes}` : said.map(({ words: each, sizes }) => `${sizes}: ${each}`);
  return tiles(['Verdict', words, [about, sofar].flat().join('; ')]);
}

/** What tells the cases of A and B, of which each may be in a group of its own. */
const withoutGroup = (name: string): string => formatCaseAddress({ ...parseCaseAddress(name), group: defaultGroup });

/** What the pairs say. @throws Error where the clock is too coarse */
function compare(address: CaseAddress, [a, b]: readonly [Times, Times], seed: number): RowOf<'comparison'> {
  const { n } = address;
  if ([...a.wallTimesMs, ...b.wallTimesMs].some((ms) => ms <= 0)) {
    throw new Error(`n = ${n} takes less than a tick of this clock: there is nothing to compare; take more points`);
  }
  const wallTimes = ratioOfMedians(a.wallTimesMs, b.wallTimesMs, { seed });
  return {
    event: 'comparison',
    case: formatCaseAddress(address),
    n,
    aMs: median(a.wallTimesMs) as number,
    bMs: median(b.wallTimesMs) as number,
    a: a.subject.setting.name,
    b: b.subject.setting.name,
    pairs: a.wallTimesMs.length,
    wallTimes,
    equivalents:
      a.productEquivalents.length === 0 ? null : ratioOfMedians(a.productEquivalents, b.productEquivalents, { seed }),
  };
}

/** The times of a case, and its verdict where it is the only one; of several each has its ratio. */
function sectionOf(
  sides: readonly Timed[],
  names: Readonly<Record<string, string>>,
  { told, isOnlyOne }: { readonly told: RowOf<'comparison'> | undefined; readonly isOnlyOne: boolean },
): Part {
  const [first] = sides as readonly [Timed];
  const wrong = sides.filter((side) => side.wrong).map(({ setting }) => setting);
  const labelOf = ({ setting }: Timed): string => `${setting}: ${names[setting]}`;
  const [words, about] = told ? comparisonWords(told) : [`${first.repetitions} pairs so far`, 'it comes at the end'];
  const ratio: Tile = told
    ? [
        'Ratio, B ÷ A',
        told.wallTimes.ratio.toFixed(3),
        `95 % interval ${intervalWords(told.wallTimes, 3)}, bootstrap over ${told.pairs} pairs`,
      ]
    : ['Ratio, B ÷ A', words, about];
  const onGpu = sides.some(({ gpuMs }) => gpuMs !== null);
  const parts: Parts = [
    tiles(
      isOnlyOne ? ['Verdict', words, about] : ratio,
      ...sides.map(({ setting, medianMs }): Tile => [setting, `${formatMs(medianMs)} ms`, names[setting]]),
    ),
    tableOf('Wall times; every result was checked', sides, [
      ['Setting', labelOf],
      ['Median, ms', ({ medianMs }) => formatMs(medianMs)],
      ['From – to', fromTo],
      onGpu ? ['GPU, ms', ({ gpuMs }) => formatMs(gpuMs)] : null,
      ['Runs', ({ repetitions }) => String(repetitions)],
    ]),
    notes(...remarks(sides), ...(told?.equivalents ? [equivalentsWords(told.equivalents)] : [])),
    {
      kind: 'distribution',
      caption: 'How the times are distributed',
      summary: 'Share of the runs that took at most so long, for A and for B.',
      data: { series: sides.map((side) => ({ name: labelOf(side), values: side.wallTimesMs })) },
    },
    ...whereItGoes(sides, ({ setting }) => setting),
  ];
  const failed = tiles(['Answer', verdict(false), `${wrong.join(', ')}; no time counts`]);
  return { kind: 'section', caption: pointsOf(first), parts: wrong.length > 0 ? [failed] : parts };
}
