import { dot, line, type Markish, ruleX } from '@observablehq/plot';
import { formatMs, formatSize, shortSize } from '../../bench/format.js';
import type { ChartData, TimePoint, TimeSeries } from '../../bench/parts.js';
import { chartOf, MARGIN } from './frame.js';
import { lineStyle, lineSwatch, pointStyle } from './marks.js';
import { sizeTicks, timeLabel, timeTicks } from './ticks.js';

/** Draws time against the number of points, both on logarithmic axes. */
export const timeChart = chartOf(({ series }: ChartData['time']) => {
  const byN = series.map(({ points }) => new Map(points.map((each) => [each.n, each])));
  const sizes = [...new Set(byN.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  const [range, times] = [sizeRange(sizes), timeRange(series)];
  return {
    plot: (width) => ({
      height: 340,
      x: {
        ...{
          type: 'log',
          base: 2,
          domain: range,
          grid: true,
          label: 'points',
          labelAnchor: 'center',
          labelArrow: 'none',
        },
        ticks: sizeTicks(...range, width - MARGIN.marginLeft - MARGIN.marginRight),
        tickFormat: shortSize,
      },
      y: {
        ...{ type: 'log', domain: times, grid: true, label: null },
        ticks: timeTicks(...times),
        tickFormat: timeLabel,
      },
      marks: series.flatMap(marksOf),
    }),
    legend: series.map(({ name, kind }, i) => ({ name, swatch: lineSwatch(i, kind === 'bound') })),
    numbers: {
      heads: ['Points', ...series.map(({ name }) => `${name}, ms`)],
      rows: sizes.map((n) => [formatSize(n), ...byN.map((points) => describe(points.get(n)))]),
    },
  };
});

/** Returns the line of a series, and its points with the ranges of their times. */
function marksOf({ kind, points }: TimeSeries, i: number): Markish[] {
  const known = points.filter(({ ms }) => ms > 0);
  const course = line(known, { x: 'n', y: 'ms', sort: 'n', ...lineStyle(i, kind === 'bound') });
  if (kind === 'bound') return [course];
  const spread = known.filter(({ lowMs = 0 }) => lowMs > 0);
  const about = (at: TimePoint): string => `${formatSize(at.n)} points: ${describe(at)} ms`;
  return [
    course,
    ruleX(spread, { x: 'n', y1: 'lowMs', y2: 'highMs', ...lineStyle(i), strokeDasharray: 'none' }),
    dot(known, { x: 'n', y: 'ms', title: about, className: 'chart-point', ...pointStyle(i) }),
  ];
}

function describe(at: TimePoint | undefined): string {
  if (at === undefined) return '–';
  const { ms, lowMs, highMs } = at;
  const spread = lowMs === undefined || highMs === undefined ? '' : ` (${formatMs(lowMs)}–${formatMs(highMs)})`;
  return `${formatMs(ms)}${spread}`;
}

/** Returns the range of the x axis, with an octave on either side of a single size. */
function sizeRange(sizes: readonly number[]): [number, number] {
  const [min, max] = [sizes.at(0) ?? 1, sizes.at(-1) ?? 2];
  const margin = min === max ? 2 : Math.max(2 ** 0.25, (max / min) ** 0.04);
  return [min / margin, max * margin];
}

/**
 * Returns the range of the y axis: at least a decade, so that small differences do not look large.
 */
function timeRange(series: readonly TimeSeries[]): [number, number] {
  const times = series
    .flatMap(({ points }) => points.flatMap(({ ms, lowMs, highMs }) => [ms, lowMs ?? ms, highMs ?? ms]))
    .filter((ms) => ms > 0);
  if (times.length === 0) return [1, 10];
  const [min, max] = [Math.min(...times) / 1.3, Math.max(...times) * 1.3];
  const margin = Math.sqrt(Math.max(1, 10 / (max / min)));
  return [min / margin, max * margin];
}
