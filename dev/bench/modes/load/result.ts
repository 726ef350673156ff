/**
 * Rows and report of `load`: a row for each number of callers, the gain of each kind of sharing,
 * and the waterfall of one pass.
 */
import { median, type RatioOfMedians } from '../../../../src/calibrate/statistics.js';
import { formatBytes, formatMs, formatRatio, formatSpeed } from '../../format.js';
import { type Column, headline, notes, type Part, type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { grouped } from '../../summary.js';
import { findingsTable } from '../targets/findings.js';
import { ALL_ON } from './knobs.js';
import type { JobSpans, measurePass, measureUrgent } from './measure.js';

declare module '../../rows.js' {
  interface Rows {
    /** One pass of `load` through its jobs at one concurrency; every result was correct. */
    readonly load: Awaited<ReturnType<typeof measurePass>>['row'];
    /** Time of a pass at one concurrency ÷ that at concurrency 1; null if 1 was not measured. */
    readonly inflation: {
      readonly concurrency: number;
      readonly ratio: RatioOfMedians | null;
    };
    /** Wall time of a pass without one kind of sharing ÷ that with all. */
    readonly gain: {
      readonly concurrency: number;
      readonly without: string;
      readonly ratio: RatioOfMedians;
    };
    /** Timeline of each job of one pass, in milliseconds since the first call. */
    readonly waterfall: {
      readonly concurrency: number;
      readonly jobs: readonly (JobSpans & { readonly n: number })[];
    };
    /** Small sums over the same points: in sequence, and all at once. */
    readonly together: {
      readonly repetition: number;
      readonly jobs: number;
      readonly singleMs: number;
      readonly togetherMs: number;
      /** Number of the concurrent sums that were coalesced. */
      readonly merged: number;
    };
    /** Interactive calls, one at a time: without and with background calls. */
    readonly interactive: Awaited<ReturnType<typeof measureUrgent>>;
  }
}

type Load = RowOf<'load'>;

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

const spellRatio = (ratio: RatioOfMedians | null | undefined): string => {
  if (!ratio) return '–';
  const range = `${formatRatio(ratio.low)} to ${formatRatio(ratio.high)}`;
  return `${formatRatio(ratio.ratio)} (${ratio.verdict === 'too few pairs' ? ratio.verdict : range})`;
};

const medians = (
  head: string,
  of: (row: Load) => number | null,
  digits: number,
): readonly [head: string, cell: (group: Group) => string] => [head, (group) => spell(middle(group, of), digits)];

const [, jobsPerSecond] = medians('Jobs per second', (row) => row.jobsPerSecond, 2);

const latencies: readonly Column<Group>[] = [
  ['p50, ms', (group) => formatMs(middle(group, (row) => row.p50Ms))],
  ['p95, ms', (group) => formatMs(middle(group, (row) => row.p95Ms))],
];

const ofGpu: readonly Column<Group>[] = [
  ['GPU ms per job', (group) => formatMs(middle(group, ({ gpuMs, jobs }) => gpuMs / jobs))],
  medians('GPU idle, %', ({ idleShare }) => idleShare && 100 * idleShare, 1),
  medians('Merged calls', (row) => row.merged, 0),
  ['Peak scratch', (group) => mostOf(group, (row) => row.scratchBytes)],
  ['Planned scratch', (group) => mostOf(group, (row) => row.promisedBytes)],
  medians('Buffers freed per second', (row) => row.freesPerSecond, 1),
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
  const most = levels.at(-1);
  return [
    most === undefined ? null : headline(resultOf(most, inflationOf(most))),
    tableOf(`${one.jobs} jobs (mix: ${one.mix}) by number of callers, medians; every result was checked`, levels, [
      ['Callers', ({ concurrency }) => String(concurrency)],
      ['Jobs per second', (group) => ({ text: jobsPerSecond(group), as: 'strong' })],
      ['Total time ÷ 1 caller', (group) => spellRatio(inflationOf(group))],
      ...common,
    ]),
    off.length === 0
      ? null
      : tableOf(
          `Gain of each kind of sharing with ${off[0]?.concurrency} callers: total time without it ÷ with all`,
          off,
          [
            ['Sharing', ({ sharing }) => sharing],
            ['Jobs per second', jobsPerSecond],
            ['Total time ÷ all on', (group) => ({ text: spellRatio(gainOf(group)), as: 'strong' })],
            ...common,
          ],
        ),
    together.length === 0
      ? null
      : tableOf(`${together[0]?.jobs} small sums over the same points`, together, [
          ['Repetition', ({ repetition }) => String(repetition)],
          ['In sequence, ms', ({ singleMs }) => formatMs(singleMs)],
          ['Concurrently, ms', ({ togetherMs }) => formatMs(togetherMs)],
          ['Merged calls', ({ merged }) => String(merged)],
        ]),
    interactive.length === 0
      ? null
      : tableOf('Latency of interactive calls, one at a time', interactive.flatMap(latencyLines), [
          ['Background calls', ({ background }) => background],
          ['Scalars', ({ n }) => n.toLocaleString('en')],
          ['p50, ms', ({ p50Ms }) => formatMs(p50Ms)],
          ['p95, ms', ({ p95Ms }) => formatMs(p95Ms)],
        ]),
    waterfall === undefined ? null : waterfallOf(waterfall),
    waterfall === undefined ? null : notes(waterfallLine(waterfall)),
    findingsTable('Targets', rowsOf(rows, 'target')),
  ];
}

function resultOf(group: Group, inflation: RatioOfMedians | null | undefined): string {
  const { concurrency } = group;
  const rate = `${concurrency} ${concurrency === 1 ? 'caller' : 'callers'}: ${jobsPerSecond(group)} jobs per second`;
  if (concurrency === 1 || !inflation) return `${rate}.`;
  switch (inflation.verdict) {
    case 'too few pairs':
      return `${rate}; too few passes to compare it with one caller.`;
    case 'no difference':
      return `${rate}, not significantly different from one caller.`;
    default:
      return `${rate}, ${formatSpeed(1 / inflation.ratio)} than one caller.`;
  }
}

const latencyLines = (row: RowOf<'interactive'>) => {
  const submit = row.submitMs > 0 ? `, longest submit ${formatMs(row.submitMs)} ms` : '';
  const background = `${row.backgroundN.toLocaleString('en')} scalars each${submit}`;
  return [
    { n: row.n, background: 'none', p50Ms: row.aloneP50Ms, p95Ms: row.aloneP95Ms },
    { n: row.n, background, p50Ms: row.busyP50Ms, p95Ms: row.busyP95Ms },
  ];
};

const spansOf = ({ calledAt, startedAt, onGpuAt, computedAt, endedAt }: RowOf<'waterfall'>['jobs'][number]) => [
  { name: 'queued', startMs: calledAt, ms: startedAt - calledAt },
  { name: 'staged', startMs: startedAt, ms: onGpuAt - startedAt },
  { name: 'on the GPU', startMs: onGpuAt, ms: computedAt - onGpuAt },
  { name: 'windows combined', startMs: computedAt, ms: endedAt - computedAt },
];

/** Returns the median of each phase in one sentence, as terminals draw no chart. */
function waterfallLine({ concurrency, jobs }: RowOf<'waterfall'>): string {
  const all = jobs.map(spansOf);
  const middles = (all[0] ?? []).map(
    ({ name }, i) => `${name} ${formatMs(median(all.map((spans) => spans[i]?.ms ?? 0)))} ms`,
  );
  return `A job of ${concurrency} callers, medians: ${middles.join(', ')}.`;
}

const waterfallOf = ({ concurrency, jobs }: RowOf<'waterfall'>): Part => {
  const endMs = Math.max(...jobs.map(({ endedAt }) => endedAt));
  return {
    kind: 'waterfall',
    caption: `${jobs.length} jobs of ${concurrency} callers`,
    summary: `Each of ${jobs.length} jobs is queued, staged, computed on the GPU, and has its windows combined; the last ends after ${formatMs(endMs)} ms.`,
    data: {
      lines: jobs.map((job, i) => ({ label: `${i + 1}: ${job.n.toLocaleString('en')}`, spans: spansOf(job) })),
    },
  };
};
