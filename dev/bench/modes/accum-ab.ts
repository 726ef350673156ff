/**
 * `accum-ab`: interleaves two settings, two builds, or two groups of a curve on the same inputs,
 * and decides whether their difference is more than noise.
 */
import { median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { type CaseAddress, defaultGroup, formatCaseAddress, parseCaseAddress } from '../../cases/address.js';
import { ofMsm } from '../common-knobs.js';
import { formatMs, shortSize } from '../format.js';
import { headline, notes, type Part, type Parts, type Tile, tableOf, tiles, verdict } from '../parts.js';
import { type RowOf, rowsOf } from '../rows.js';
import {
  comparisonText,
  equivalentsText,
  grouped,
  intervalText,
  summarise,
  type Timed,
  verdictText,
} from '../summary.js';
import { runTimings, type Times } from '../timings.js';
import { benchMode } from './mode.js';
import { fromTo, pointsOf, remarks, whereItGoes } from './timings-result.js';

declare module '../rows.js' {
  interface Rows {
    /** Comparison of A and B over the pairs of a case. */
    readonly comparison: ReturnType<typeof compare>;
  }
}

export const accumAb = benchMode({
  title: 'A against B',
  about:
    'times two settings in turns and tests whether they differ by more than noise: does private or workgroup scratch win?',
  takes: '15 to 40 s',
  example: 'run --logn 12 --a.walkerpriv 1 --b.walkerpriv 0',
  limits: 'A verdict needs 6 pairs. Peers and the hardware limit are left out.',
  runsOn: 'either',
  settings: 'sides',
  ...ofMsm,
  defaults: { reps: 12 },
  knobs: {},
  run: (bench, knobs) =>
    runTimings(bench, knobs, {
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
});

function overAll(comparisons: readonly RowOf<'comparison'>[], of: number): Part {
  const said = grouped(comparisons, verdictText).map((rows) => {
    const sizes = rows.map(({ n }) => shortSize(n)).join(', ');
    return `${verdictText(rows[0] as RowOf<'comparison'>)} at ${sizes}`;
  });
  const text = `${said.length > 1 ? 'it depends on the size: ' : ''}${said.join('; ')}`;
  const sofar = comparisons.length < of ? ` (${comparisons.length} of ${of} sizes so far)` : '';
  return headline(`${text.charAt(0).toUpperCase()}${text.slice(1)}${sofar}.`);
}

/** Returns the case without its group, because A and B may be in different groups. */
const withoutGroup = (name: string): string => formatCaseAddress({ ...parseCaseAddress(name), group: defaultGroup });

/** Compares the pairs of A and B. @throws Error if the clock is too coarse */
function compare(address: CaseAddress, [a, b]: readonly [Times, Times], seed: number) {
  const { n } = address;
  if ([...a.wallTimesMs, ...b.wallTimesMs].some((ms) => ms <= 0)) {
    throw new Error(
      `n = ${n} takes less than one tick of the clock, so the settings cannot be compared; use more points`,
    );
  }
  const wallTimes = ratioOfMedians(a.wallTimesMs, b.wallTimesMs, { seed });
  return {
    event: 'comparison' as const,
    case: formatCaseAddress(address),
    n,
    aMs: median(a.wallTimesMs) as number,
    bMs: median(b.wallTimesMs) as number,
    a: a.subject.setting.name,
    b: b.subject.setting.name,
    pairs: a.wallTimesMs.length,
    /** B ÷ A of the wall times, and of the product equivalents; null without a GPU. */
    wallTimes,
    equivalents:
      a.productEquivalents.length === 0 ? null : ratioOfMedians(a.productEquivalents, b.productEquivalents, { seed }),
  };
}

/** Returns the times of a case: with its verdict if it is the only case, else with its ratio. */
function sectionOf(
  sides: readonly Timed[],
  names: Readonly<Record<string, string>>,
  { told, isOnlyOne }: { readonly told: RowOf<'comparison'> | undefined; readonly isOnlyOne: boolean },
): Part {
  const [first] = sides as readonly [Timed];
  const wrong = sides.filter((side) => side.wrong).map(({ setting }) => setting);
  const labelOf = ({ setting }: Timed): string => `${setting}: ${names[setting]}`;
  const ratio: Tile = told
    ? ['B/A', told.wallTimes.ratio.toFixed(3), `95 % CI ${intervalText(told.wallTimes, 3)}, ${told.pairs} pairs`]
    : ['B/A', '–', `${first.repetitions} pairs so far`];
  const onGpu = sides.some(({ gpuMs }) => gpuMs !== null);
  const parts: Parts = [
    told && isOnlyOne ? headline(comparisonText(told)) : null,
    tiles(...sides.map(({ setting, medianMs }): Tile => [setting, `${formatMs(medianMs)} ms`, names[setting]]), ratio),
    tableOf('Total times; every result was checked', sides, [
      ['Setting', labelOf],
      ['Median, ms', ({ medianMs }) => formatMs(medianMs)],
      ['Range, ms', fromTo],
      onGpu ? ['GPU, ms', ({ gpuMs }) => formatMs(gpuMs)] : null,
      ['Runs', ({ repetitions }) => String(repetitions)],
    ]),
    notes(...remarks(sides), ...(told?.equivalents ? [equivalentsText(told.equivalents)] : [])),
    {
      kind: 'distribution',
      caption: 'Distribution of the total times',
      summary: 'Share of the runs that took at most a given time, for A and for B.',
      data: { series: sides.map((side) => ({ name: labelOf(side), values: side.wallTimesMs })) },
    },
    ...whereItGoes(sides, ({ setting }) => setting),
  ];
  const failed = tiles(['Result', verdict(false), `${wrong.join(', ')}; no times are reported`]);
  return { kind: 'section', caption: pointsOf(first), parts: wrong.length > 0 ? [failed] : parts };
}
