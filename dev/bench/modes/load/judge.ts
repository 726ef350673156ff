/** What many calls at once are meant to take, and whether they do. */
import { ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { present } from '../../parts.js';
import type { RowOf } from '../../rows.js';
import { type Finding, middleOf, notMeasured, ratioFinding, type Target } from '../targets/findings.js';
import { ALL_ON } from './variants.js';

type Load = RowOf<'load'>;

/** Of one machine, whose cores play GPU: how long the host takes beside a GPU that is faster is nobody's promise. */
const TARGET = { throughput: 0.95, together: 0.6, idle: 0.03, interactive: 1 };

/** Of some of the passes, the repetitions in their order. */
export const wallTimesAt = (rows: readonly Load[], concurrency: number, sharing = ALL_ON): number[] =>
  rows.flatMap((row) => (row.concurrency === concurrency && row.sharing === sharing ? [row.wallMs] : []));

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export function judgeLoad(
  rows: readonly Load[],
  together: readonly RowOf<'together'>[],
  interactive: RowOf<'interactive'>,
  isSoftware: boolean,
  isOnGpu = true,
): Finding[] {
  const promised = (target: Target): Target | null => (isSoftware ? target : null);
  const levels = [...new Set(rows.map(({ concurrency }) => concurrency))];
  const most = Math.max(...levels);
  const best = levels.reduce((one, other) =>
    mean(wallTimesAt(rows, other)) < mean(wallTimesAt(rows, one)) ? other : one,
  );
  const idle = rows.flatMap(({ concurrency, sharing, idleShare }) =>
    concurrency === most && sharing === ALL_ON ? [idleShare] : [],
  );
  const wallTimesMs = wallTimesAt(rows, most);
  const idleWhat = `time without work on the GPU, with work waiting, at c = ${most}`;
  return [
    {
      what: `throughput at c = ${most} ÷ that at c = ${best}, the best`,
      target: promised({ least: TARGET.throughput }),
      ...ratioFinding(ratioOfMedians(wallTimesMs, wallTimesAt(rows, best)), wallTimesMs.length),
    },
    ...(!isOnGpu
      ? []
      : idle.includes(null)
        ? [notMeasured(idleWhat, promised({ most: TARGET.idle }), 'not all was the GPU’s')]
        : [{ what: idleWhat, target: promised({ most: TARGET.idle }), ...middleOf(present(idle)) }]),
    {
      what: 'passes whose scratch was more than the budget',
      target: { most: 0 },
      value: rows.filter(({ peakBytes, budgetBytes }) => peakBytes > budgetBytes).length,
    },
    {
      what: `${together[0]?.jobs ?? 0} small sums over the same points at once ÷ one after the other`,
      target: promised({ most: TARGET.together }),
      ...ratioFinding(
        ratioOfMedians(
          together.map(({ singleMs }) => singleMs),
          together.map(({ togetherMs }) => togetherMs),
        ),
        together.length,
      ),
    },
    {
      what: 'p95 of interactive calls with others in the background ÷ (twice that alone, and one submit)',
      target: promised({ most: TARGET.interactive }),
      value: interactive.busyP95Ms / (2 * interactive.aloneP95Ms + interactive.submitMs),
    },
  ];
}
