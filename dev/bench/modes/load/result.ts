/**
 * Reports `load`: a row for each number of callers, the gain of each kind of sharing, and the
 * waterfall of one pass.
 */
import { median, type RatioOfMedians } from '../../../../src/calibrate/statistics.js';
import { formatBytes, formatMs, formatRatio } from '../../format.js';
import { type Column, type Part, type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { grouped } from '../../summary.js';
import { findingsTable } from '../targets/findings-table.js';
import { ALL_ON } from './variants.js';

type Load = RowOf<'load'>;

/** Passes of one engine at one concurrency. */
interface Group {
  readonly sharing: string;
  readonly concurrency: number;
  readonly passes: readonly Load[];
}

/** Returns the median over the passes; null if a pass has no value. */
const middle = ({ passes }: Group, of: (row: Load) => number | null): number | null => {
  const values = passes.map(of);
  return values.includes(null) ? null : median(values as number[]);
};

const mostOf = ({ passes }: Group, of: (row: Load) => number): string => formatBytes(Math.max(...passes.map(of)));

const spell = (value: number | null, digits: number): string => (value === null ? '–' : value.toFixed(digits));

const spellRatio = (ratio: RatioOfMedians | null | undefined): string =>
  ratio ? `${formatRatio(ratio.ratio)} (${formatRatio(ratio.low)} to ${formatRatio(ratio.high)})` : '–';

const jobsPerSecond = (group: Group): string =>
  spell(
    middle(group, (row) => row.jobsPerSecond),
    2,
  );

/** Columns of all passes. */
const latencies: readonly Column<Group>[] = [
  ['p50, ms', (group) => formatMs(middle(group, (row) => row.p50Ms))],
  ['p95, ms', (group) => formatMs(middle(group, (row) => row.p95Ms))],
];

/** Columns of passes on a GPU. */
const ofGpu: readonly Column<Group>[] = [
  [
    'GPU idle, %',
    (group) =>
      spell(
        middle(group, ({ idleShare }) => idleShare && 100 * idleShare),
        1,
      ),
  ],
  [
    'Merged',
    (group) =>
      spell(
        middle(group, (row) => row.merged),
        0,
      ),
  ],
  ['Peak', (group) => mostOf(group, (row) => row.peakBytes)],
  ['Promised', (group) => mostOf(group, (row) => row.promisedBytes)],
  [
    'Frees a second',
    (group) =>
      spell(
        middle(group, (row) => row.freesPerSecond),
        1,
      ),
  ],
];

export function loadResult(rows: readonly StampedRow[]): Parts {
  const told = rowsOf(rows, 'load');
  const [one] = told;
  if (one === undefined) return [];
  const groups = grouped(told, ({ sharing, concurrency }) => `${sharing} ${concurrency}`).map((passes): Group => {
    const { sharing, concurrency } = passes[0] as Load;
    return { sharing, concurrency, passes };
  });
  const levels = groups.filter(({ sharing }) => sharing === ALL_ON).toSorted((a, b) => a.concurrency - b.concurrency);
  const off = groups.filter(({ sharing }) => sharing !== ALL_ON);
  const [inflations, gains, together] = [rowsOf(rows, 'inflation'), rowsOf(rows, 'gain'), rowsOf(rows, 'together')];
  const interactive = rowsOf(rows, 'interactive');
  const inflationOf = ({ concurrency }: Group) => inflations.find((row) => row.concurrency === concurrency)?.ratio;
  const gainOf = ({ sharing }: Group) => gains.find(({ without }) => without === sharing)?.ratio;
  const common = told.some(({ gpuMs }) => gpuMs > 0) ? [...latencies, ...ofGpu] : latencies;
  const [waterfall] = rowsOf(rows, 'waterfall');
  return [
    tableOf(`${one.jobs} jobs (${one.mix}) of c callers, medians; every result was checked`, levels, [
      ['c', ({ concurrency }) => String(concurrency)],
      ['Jobs a second', (group) => ({ text: jobsPerSecond(group), as: 'strong' })],
      ['Wall ÷ c = 1', (group) => spellRatio(inflationOf(group))],
      ...common,
    ]),
    off.length === 0
      ? null
      : tableOf(`Gain of each kind of sharing, at c = ${off[0]?.concurrency}: wall time without it ÷ with all`, off, [
          ['Without', ({ sharing }) => sharing],
          ['Jobs a second', jobsPerSecond],
          ['Wall ÷ all on', (group) => ({ text: spellRatio(gainOf(group)), as: 'strong' })],
          ...common,
        ]),
    together.length === 0
      ? null
      : tableOf(`${together[0]?.jobs} small sums over the same points`, together, [
          ['Repetition', ({ repetition }) => String(repetition)],
          ['In sequence, ms', ({ singleMs }) => formatMs(singleMs)],
          ['At once, ms', ({ togetherMs }) => formatMs(togetherMs)],
          ['Merged', ({ merged }) => String(merged)],
        ]),
    interactive.length === 0
      ? null
      : tableOf('Interactive calls, one at a time, without and with background calls', interactive, [
          ['Scalars', ({ n }) => n.toLocaleString('en')],
          ['Without, p50, ms', ({ aloneP50Ms }) => formatMs(aloneP50Ms)],
          ['Without, p95, ms', ({ aloneP95Ms }) => formatMs(aloneP95Ms)],
          ['Background scalars', ({ backgroundN }) => backgroundN.toLocaleString('en')],
          interactive.some(({ submitMs }) => submitMs > 0)
            ? ['Longest background submit, ms', ({ submitMs }) => formatMs(submitMs)]
            : null,
          ['With, p50, ms', ({ busyP50Ms }) => formatMs(busyP50Ms)],
          ['With, p95, ms', ({ busyP95Ms }) => formatMs(busyP95Ms)],
        ]),
    waterfall === undefined ? null : waterfallOf(waterfall),
    findingsTable('Targets', rowsOf(rows, 'target')),
  ];
}

/** Reports the phases of each job from call to result. */
const waterfallOf = ({ concurrency, jobs }: RowOf<'waterfall'>): Part => {
  const endMs = Math.max(...jobs.map(({ endedAt }) => endedAt));
  return {
    kind: 'waterfall',
    caption: `${jobs.length} jobs of ${concurrency} callers`,
    summary: `Each of ${jobs.length} jobs is queued, staged, computed on the GPU, and has its windows combined; the last ends after ${formatMs(endMs)} ms.`,
    data: {
      lines: jobs.map(({ n, calledAt, startedAt, onGpuAt, computedAt, endedAt }, i) => ({
        label: `${i + 1}: ${n.toLocaleString('en')}`,
        spans: [
          { name: 'queued', startMs: calledAt, ms: startedAt - calledAt },
          { name: 'staged', startMs: startedAt, ms: onGpuAt - startedAt },
          { name: 'on the GPU', startMs: onGpuAt, ms: computedAt - onGpuAt },
          { name: 'windows combined', startMs: computedAt, ms: endedAt - computedAt },
        ],
      })),
    },
  };
};
