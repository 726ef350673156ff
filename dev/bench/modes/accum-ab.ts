/** `accum-ab`: two settings, two builds, or two groups of a curve, strictly in turns on the same inputs, and whether their difference is more than noise. */

import { median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { type CaseAddress, defaultGroup, formatCaseAddress, parseCaseAddress } from '../../cases/address.js';
import { formatMs } from '../format.js';
import { notes, type Part, type Parts, type Tile, tableOf, tiles, verdict } from '../parts.js';
import { type RowOf, rowsOf } from '../rows.js';
import { grouped, summarise, type Timed } from '../summary.js';
import { runTimings, type Times } from '../timings.js';
import { comparisonWords, equivalentsWords } from '../words.js';
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
    return grouped(timed, ({ case: name }) => withoutGroup(name)).map((sides) => {
      const ofBoth = withoutGroup((sides[0] as Timed).case);
      const told = rowsOf(rows, 'comparison').find((row) => withoutGroup(row.case) === ofBoth);
      return sectionOf(sides, { A: a, B: b }, told);
    });
  },
};

/** What tells the cases of A and B, of which each may be in a group of its own. */
const withoutGroup = (name: string): string => formatCaseAddress({ ...parseCaseAddress(name), group: defaultGroup });

/** What the pairs say. @throws Error where the clock is too coarse */
function compare(address: CaseAddress, [a, b]: readonly [Times, Times], seed: number): RowOf<'comparison'> {
  const { n } = address;
  if ([...a.wallsMs, ...b.wallsMs].some((ms) => ms <= 0)) {
    throw new Error(`n = ${n} takes less than a tick of this clock: there is nothing to compare; take more points`);
  }
  const walls = ratioOfMedians(a.wallsMs, b.wallsMs, { seed });
  return {
    event: 'comparison',
    case: formatCaseAddress(address),
    n,
    aMs: median(a.wallsMs) as number,
    bMs: median(b.wallsMs) as number,
    a: a.subject.setting.name,
    b: b.subject.setting.name,
    pairs: a.wallsMs.length,
    walls,
    equivalents: ratioOfMedians(a.productEquivalents, b.productEquivalents, { seed }),
  };
}

/** The verdict on a case, and the times that it rests on. */
function sectionOf(sides: readonly Timed[], names: Readonly<Record<string, string>>, told?: RowOf<'comparison'>): Part {
  const [first] = sides as readonly [Timed];
  const wrong = sides.filter((side) => side.wrong).map(({ setting }) => setting);
  const labelOf = ({ setting }: Timed): string => `${setting}: ${names[setting]}`;
  const [words, detail] = told ? comparisonWords(told) : [`${first.repetitions} pairs so far`, 'it comes at the end'];
  const about = told ? `${detail}; ${equivalentsWords(told)}` : detail;
  const parts: Parts = [
    tiles(
      ['Verdict', words, about],
      ...sides.map(({ setting, medianMs }): Tile => [setting, `${formatMs(medianMs)} ms`, names[setting]]),
    ),
    tableOf('Wall times; every result was checked', sides, [
      ['Setting', labelOf],
      ['Median, ms', ({ medianMs }) => formatMs(medianMs)],
      ['From – to', fromTo],
      ['GPU, ms', ({ gpuMs }) => formatMs(gpuMs)],
      ['Runs', ({ repetitions }) => String(repetitions)],
    ]),
    notes(...remarks(sides)),
    {
      kind: 'distribution',
      caption: 'How the times are distributed',
      summary: 'Share of the runs that took at most so long, for A and for B.',
      data: { series: sides.map((side) => ({ name: labelOf(side), values: side.wallsMs })) },
    },
    ...whereItGoes(sides, ({ setting }) => setting),
  ];
  const failed = tiles(['Answer', verdict(false), `${wrong.join(', ')}; no time counts`]);
  return { kind: 'section', caption: pointsOf(first), parts: wrong.length > 0 ? [failed] : parts };
}
