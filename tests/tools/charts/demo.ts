/** Every chart of the page with plausible numbers: to look at, and for charts.test.ts. */
import { shortSize } from '../../../dev/bench/format.js';
import type { ChartOptions, TimePoint } from '../../../dev/bench/parts.js';
import {
  distributionChart,
  settingsChart,
  stackedShares,
  timeChart,
  timeline,
} from '../../../dev/page/charts/charts.js';
import type { Chart } from '../../../dev/page/charts/frame.js';
import { h } from '../../../dev/page/dom.js';

const powers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => 2 ** (from + i));

/** A start-up time and a time for each point, with a spread. */
const measure = (sizes: readonly number[], startMs: number, nsEach: number): TimePoint[] =>
  sizes.map((n) => {
    const ms = startMs + (nsEach * n) / 1e6;
    return { n, ms, lowMs: ms * 0.88, highMs: ms * (1.1 + 0.3 * Math.sin(n) ** 2) };
  });

const passes = [
  'decompose',
  'count',
  'partition',
  'sort',
  'walk',
  'combine',
  'reduce',
  'combine windows (CPU)',
  'read back',
  'check',
];

const bar = (label: string, weights: readonly number[]) => ({
  label,
  parts: weights.map((ms, i) => ({ name: passes[i] ?? '', ms })),
});

/** Times that lean to the right, the same in every run of the page. */
const sample = (count: number, middle: number, spread: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => {
    const u = (((i + 1) * 0.618034 + seed) % 1) * 0.98 + 0.01;
    return middle - spread * Math.log(1 / u - 1) * (u > 0.5 ? 0.9 : 0.4);
  });

function filled<Data>(
  make: (options: ChartOptions) => Chart<Data>,
  { data, ...options }: ChartOptions & { readonly data: Data },
): Chart<Data> {
  const chart = make(options);
  chart.update(data);
  return chart;
}

export const charts = {
  time: filled(timeChart, {
    caption: 'Total time of an MSM',
    summary: 'Total time against the number of points, for three engines and two bounds.',
    data: {
      series: [
        { name: 'this engine', kind: 'measured', points: measure(powers(10, 22), 6, 95) },
        {
          name: 'another engine, on the same GPU',
          kind: 'measured',
          points: measure([2 ** 12, 2 ** 14, 100_000, 2 ** 18, 2 ** 20], 24, 310),
        },
        { name: 'CPU, one thread', kind: 'measured', points: measure(powers(10, 16), 0.4, 9000) },
        { name: 'arithmetic alone', kind: 'bound', points: powers(10, 22).map((n) => ({ n, ms: (40 * n) / 1e6 })) },
        { name: 'memory alone', kind: 'bound', points: powers(10, 22).map((n) => ({ n, ms: (9 * n) / 1e6 })) },
      ],
    },
  }),
  onePoint: filled(timeChart, {
    caption: 'Total time of an MSM, one size',
    summary: 'The total time at 100,000 points.',
    data: { series: [{ name: 'this engine', kind: 'measured', points: measure([100_000], 6, 95) }] },
  }),
  shares: filled(stackedShares, {
    caption: 'Breakdown of the total time',
    summary: 'The walk takes most of the time at all sizes, and its share grows with the size.',
    data: {
      bars: [12, 13, 14, 15, 16, 17, 18, 19, 20, 22].map((log, i) =>
        bar(
          shortSize(2 ** log),
          [0.2, 0.1, 0.4, 0.5, 0.8 + 0.6 * i, 0.5, 2, 0.4, 0.3, 0.1].map((ms) => ms * 2 ** (i / 2)),
        ),
      ),
    },
  }),
  placements: filled(stackedShares, {
    caption: 'Breakdown of the total time, by placement of the scratch',
    summary: 'With private scratch the walk takes a larger share.',
    data: {
      bars: [
        bar('workgroup', [0.6, 0.2, 1.1, 1.6, 9.2, 1.3, 3.1]),
        bar('private', [0.6, 0.2, 1.1, 1.6, 12.9, 1.7, 3.4]),
      ],
    },
  }),
  distribution: filled(distributionChart, {
    caption: 'Times of A and B',
    summary: 'B is faster than A in almost all runs.',
    data: {
      series: [
        { name: 'A', values: sample(40, 31.2, 0.9, 0.1) },
        { name: 'B', values: sample(40, 30.4, 0.7, 0.4) },
      ],
    },
  }),
  settings: filled(settingsChart, {
    caption: 'Window width at 2¹⁸ points',
    summary: '13 bits are fastest.',
    data: {
      fastest: '13 bits',
      settings: [
        { label: '11 bits', medianMs: 41.2, lowMs: 40.1, highMs: 47 },
        { label: '12 bits', medianMs: 36.9, lowMs: 35.8, highMs: 38.8 },
        { label: '13 bits', medianMs: 33.1, lowMs: 32.2, highMs: 36.4 },
        { label: '14 bits, with the scratch in private memory', medianMs: 35.4, lowMs: 33.9, highMs: 52.3 },
      ],
    },
  }),
  timeline: filled(timeline, {
    caption: 'One MSM of 2¹⁸ points',
    summary: 'The GPU is busy from 2 to 31 ms; the host waits and then combines the windows.',
    data: {
      blocks: [
        { lane: 'host', name: 'encode', startMs: 0, ms: 1.4 },
        { lane: 'host', name: 'upload', startMs: 1.4, ms: 0.7 },
        { lane: 'host', name: 'wait', startMs: 2.1, ms: 29.3 },
        { lane: 'host', name: 'combine windows (CPU)', startMs: 31.4, ms: 0.9 },
        { lane: 'GPU', name: 'decompose', startMs: 2.2, ms: 0.6 },
        { lane: 'GPU', name: 'count', startMs: 2.8, ms: 0.2 },
        { lane: 'GPU', name: 'partition', startMs: 3, ms: 1.1 },
        { lane: 'GPU', name: 'sort', startMs: 4.1, ms: 2.6 },
        { lane: 'GPU', name: 'walk', startMs: 6.7, ms: 16.2 },
        { lane: 'GPU', name: 'combine', startMs: 22.9, ms: 1.6 },
        { lane: 'GPU', name: 'reduce', startMs: 24.5, ms: 6.6 },
        { lane: 'GPU', name: 'read back', startMs: 31.1, ms: 0.1 },
      ],
    },
  }),
  closed: filled(timeChart, {
    caption: 'In closed details',
    summary: 'The total time at two sizes.',
    data: { series: [{ name: 'this engine', kind: 'measured', points: measure([2 ** 10, 2 ** 12], 6, 95) }] },
  }),
};

declare global {
  interface Window {
    charts: typeof charts;
  }
}

window.charts = charts;
const { closed, ...open } = charts;
document
  .querySelector('#main')
  ?.append(
    ...Object.entries(open).map(([name, { root }]) => h('section', { class: 'run', id: name }, root)),
    h('details', { class: 'run', id: 'closed' }, h('summary', {}, 'More'), closed.root),
  );
