/** Compares the rows of `load` with its targets. */
import { present } from '../../parts.js';
import type { RowOf } from '../../rows.js';
import { type Finding, middleOf, notMeasured, ratioFinding, type Target } from '../targets/findings.js';
import { ALL_ON } from './knobs.js';

type Load = RowOf<'load'>;

/**
 * Targets on a software GPU of the same machine. For faster GPUs the host's share is not specified.
 */
const TARGET = { throughput: 0.95, together: 0.6, idle: 0.03, interactive: 1 };

/** Returns the wall times of the passes of one level, in order of repetitions. */
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
  const singleMs = together.map((row) => row.singleMs);
  const togetherMs = together.map((row) => row.togetherMs);
  const idleWhat = `share of time in which the GPU idles while work waits, ${most} callers`;
  return [
    {
      what: `throughput with ${most} callers ÷ the best, with ${best}`,
      target: promised({ least: TARGET.throughput }),
      ...ratioFinding(wallTimesAt(rows, most), wallTimesAt(rows, best)),
    },
    ...(!isOnGpu
      ? []
      : idle.includes(null)
        ? [notMeasured(idleWhat, promised({ most: TARGET.idle }), 'the GPU did not compute all of it')]
        : [{ what: idleWhat, target: promised({ most: TARGET.idle }), ...middleOf(present(idle)) }]),
    {
      what: 'passes whose scratch exceeded the budget',
      target: { most: 0 },
      value: rows.filter(({ peakBytes, budgetBytes }) => peakBytes > budgetBytes).length,
    },
    {
      what: `${together[0]?.jobs ?? 0} small sums over the same points, concurrently ÷ in sequence`,
      target: promised({ most: TARGET.together }),
      ...ratioFinding(singleMs, togetherMs),
    },
    {
      what: 'p95 of interactive calls with background calls ÷ (2 × p95 without + one submit)',
      target: promised({ most: TARGET.interactive }),
      value: interactive.busyP95Ms / (2 * interactive.aloneP95Ms + interactive.submitMs),
    },
  ];
}
