import { line, ruleX, text } from '@observablehq/plot';
import { median } from '../../../src/calibrate/statistics.js';
import { formatMs } from '../../bench/format.js';
import type { ChartData } from '../../bench/parts.js';
import { chartOf } from './frame.js';
import { lineStyle, lineSwatch } from './marks.js';

const LABEL_HEIGHT = 17;

/** Draws the share of runs that took at most a given time, as a step for every run. */
export const distributionChart = chartOf(({ series }: ChartData['distribution']) => {
  const samples = series.map(({ name, values }) => {
    const sorted = values.toSorted((a, b) => a - b);
    return { name, sorted, middle: median(sorted) };
  });
  const [min, max] = timeRange(samples.flatMap(({ sorted }) => sorted));
  const longest = Math.max(0, ...samples.map(({ sorted }) => sorted.length));
  const marksOf = ({ name, sorted, middle }: (typeof samples)[0], i: number) => {
    if (middle === null) return [];
    const steps = [[min, 0], ...sorted.map((time, at) => [time, (100 * (at + 1)) / sorted.length])] as [
      number,
      number,
    ][];
    // placed at the end with more room, and in a line of its own above the plane
    const isRight = 2 * middle > (sorted[0] ?? middle) + (sorted.at(-1) ?? middle);
    const label = `${name.split(':')[0]}: median ${formatMs(middle)} ms`;
    const place = { frameAnchor: 'top', textAnchor: isRight ? 'end' : 'start', dy: -6 - i * LABEL_HEIGHT } as const;
    return [
      line(steps, { curve: 'step-after', ...lineStyle(i) }),
      ruleX([middle], { ...lineStyle(i), strokeWidth: 1, insetTop: -i * LABEL_HEIGHT }),
      text([middle], { x: [middle], text: [label], fill: lineStyle(i).stroke, className: 'chart-words', ...place }),
    ];
  };
  return {
    plot: () => ({
      height: 280 + samples.length * LABEL_HEIGHT,
      marginTop: samples.length * LABEL_HEIGHT + 6,
      x: { domain: [min, max], grid: true, label: 'ms', labelAnchor: 'center', labelArrow: 'none', tickSpacing: 70 },
      y: { domain: [-2, 102], grid: true, label: null, ticks: [0, 25, 50, 75, 100], tickFormat: (tick) => `${tick} %` },
      marks: samples.flatMap(marksOf),
    }),
    legend: samples.map(({ name }, i) => ({ name, swatch: lineSwatch(i, false, false) })),
    numbers: {
      heads: ['Run, fastest first', ...samples.map(({ name }) => `${name}, ms`)],
      rows: [
        ['median', ...samples.map(({ middle }) => formatMs(middle))],
        ...Array.from({ length: longest }, (_, run) => [
          String(run + 1),
          ...samples.map(({ sorted }) => formatMs(sorted[run] ?? null)),
        ]),
      ],
    },
  };
});

function timeRange(times: readonly number[]): [number, number] {
  if (times.length === 0) return [0, 1];
  const [min, max] = [Math.min(...times), Math.max(...times)];
  const margin = max > min ? 0.06 * (max - min) : 0.05 * max || 1;
  return [Math.max(0, min - margin), max + margin];
}
