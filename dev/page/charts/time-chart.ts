import { dot, line, type Markish, ruleX } from '@observablehq/plot';
import { formatMs, formatSize, shortSize } from '../../bench/format.js';
import type { ChartData, TimePoint, TimeSeries } from '../../bench/parts.js';
import { chartOf, MARGIN } from './frame.js';
import { lineStyle, lineSwatch, pointStyle } from './marks.js';

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

/** Positions and texts of the labels of logarithmic axes. */

/** Width of a label, in CSS pixels. */
const LABEL_WIDTH = 40;

/** Returns evenly spaced powers of two for the labels of a logarithmic axis, as many as fit. */
export function sizeTicks(min: number, max: number, width: number): number[] {
  const octaves = Math.log2(max / min);
  const step = [1, 2, 4, 8].find((candidate) => (candidate * width) / octaves >= LABEL_WIDTH) ?? 16;
  const ticks: number[] = [];
  for (let log = Math.ceil(Math.log2(min) / step) * step; 2 ** log <= max; log += step) ticks.push(2 ** log);
  return ticks;
}

/** Returns the decades between two times; over a short range also 2 and 5 times them. */
export function timeTicks(min: number, max: number): number[] {
  const factors = max / min < 200 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let log = Math.floor(Math.log10(min)); 10 ** log <= max; log++)
    for (const factor of factors) ticks.push(Number((factor * 10 ** log).toPrecision(3)));
  return ticks.filter((tick) => tick >= min && tick <= max);
}

/** Formats milliseconds as `1 ms`, `10 ms` or `1 s`. */
export const timeLabel = (ms: number): string =>
  ms >= 1000
    ? `${(ms / 1000).toLocaleString('en')} s`
    : `${ms.toLocaleString('en', { maximumSignificantDigits: 3 })} ms`;
