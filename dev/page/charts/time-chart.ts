import { formatMs, formatSize } from '../../bench/format.js';
import { svg } from '../dom.js';
import type { Chart, ChartOptions } from './chart.js';
import { colourAt } from './colours.js';
import { BOUND_DASH, inColour, line, lineSwatch, point } from './marks.js';
import { type Drawing, MARGIN, type Plane, plane, plotChart, words } from './plot.js';
import { sizeLabel, sizeTicks, timeLabel, timeTicks } from './ticks.js';

export interface TimePoint {
  readonly n: number;
  readonly ms: number;
  readonly lowMs?: number;
  readonly highMs?: number;
}

export interface TimeSeries {
  readonly name: string;
  readonly points: readonly TimePoint[];
  /** A bound is dashed, without points, and named at its right end. */
  readonly kind: 'measured' | 'bound';
}

export interface TimeData {
  readonly series: readonly TimeSeries[];
}

const HEIGHT = 340;

/** Time against the number of points, both logarithmic. */
export const timeChart = (options: ChartOptions): Chart<TimeData> => plotChart(options, draw);

function draw({ series }: TimeData): Drawing {
  const byN = series.map(({ points }) => new Map(points.map((each) => [each.n, each])));
  const sizes = [...new Set(byN.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  const times = timeRange(series);
  const range = sizeRange(sizes);

  const paint: Drawing['paint'] = (width) => {
    const xTicks = sizeTicks(sizes, ...range, width - MARGIN.left - MARGIN.right);
    const space = plane(
      width,
      HEIGHT,
      12,
      { range, logarithmic: true, ticks: xTicks, label: sizeLabel },
      { range: times, logarithmic: true, ticks: timeTicks(...times), label: timeLabel },
      'points',
    );
    const marks = series.map(({ kind, name, points }, i) => {
      const known = points.filter(({ ms }) => ms > 0).toSorted((a, b) => a.n - b.n);
      const course = known.map(({ n, ms }, at) => `${at === 0 ? 'M' : 'L'}${space.x(n)} ${space.y(ms)}`).join('');
      const details =
        kind === 'bound'
          ? boundName(space, name, known)
          : [whiskers(space, known), ...known.map(({ n, ms }) => point(i, space.x(n), space.y(ms)))];
      return inColour(colourAt(i), line(course, kind === 'bound' ? BOUND_DASH : ''), ...details);
    });
    const stops = sizes.map((n) => ({
      x: space.x(n),
      readout: {
        head: `${formatSize(n)} points`,
        values: byN.map((points) => (points.has(n) ? `${describe(points.get(n))} ms` : '–')),
      },
    }));
    return { marks: [...space.marks, ...marks], stops };
  };

  return {
    height: HEIGHT,
    paint,
    legend: series.map(({ name, kind }, i) => ({
      name,
      swatch: kind === 'bound' ? lineSwatch(colourAt(i), BOUND_DASH) : lineSwatch(colourAt(i), '', i),
    })),
    numbers: {
      heads: ['Points', ...series.map(({ name }) => `${name}, ms`)],
      rows: sizes.map((n) => [formatSize(n), ...byN.map((points) => describe(points.get(n)))]),
    },
  };
}

function describe(at: TimePoint | undefined): string {
  if (at === undefined) return '–';
  const { ms, lowMs, highMs } = at;
  const spread = lowMs === undefined || highMs === undefined ? '' : ` (${formatMs(lowMs)}–${formatMs(highMs)})`;
  return `${formatMs(ms)}${spread}`;
}

/** Around a single size there is an octave on either side. */
function sizeRange(sizes: readonly number[]): [number, number] {
  const [min, max] = [sizes.at(0) ?? 1, sizes.at(-1) ?? 2];
  const margin = min === max ? 2 : Math.max(2 ** 0.25, (max / min) ** 0.04);
  return [min / margin, max * margin];
}

/** A decade at least, so that small differences do not look large. */
function timeRange(series: readonly TimeSeries[]): [number, number] {
  const times = series
    .flatMap(({ points }) => points.flatMap(({ ms, lowMs, highMs }) => [ms, lowMs ?? ms, highMs ?? ms]))
    .filter((ms) => ms > 0);
  if (times.length === 0) return [1, 10];
  // The names of the bounds are under their lines.
  const below = series.some(({ kind }) => kind === 'bound') ? 1.8 : 1.3;
  const [min, max] = [Math.min(...times) / below, Math.max(...times) * 1.3];
  const margin = Math.sqrt(Math.max(1, 10 / (max / min)));
  return [min / margin, max * margin];
}

/** From the shortest to the longest. */
function whiskers({ x, y }: Plane, points: readonly TimePoint[]): SVGElement {
  const d = points.map(({ n, lowMs, highMs }) => {
    if (lowMs === undefined || highMs === undefined || lowMs <= 0) return '';
    const [left, low, high] = [x(n) - 3, y(lowMs), y(highMs)];
    return `M${left} ${low}h6m-3 0V${high}m-3 0h6`;
  });
  return svg('path', { class: 'chart-line', d: d.join('') });
}

/** Along the underside of a bound's right end: measured times, which are longer, do not come there. */
function boundName({ x, y }: Plane, name: string, points: readonly TimePoint[]): SVGElement[] {
  const [last, before] = points.toReversed();
  // one point has no line to stand under; the legend names it
  if (last === undefined || before === undefined) return [];
  const [right, end] = [x(last.n), y(last.ms)];
  const slope = Math.atan2(end - y(before.ms), right - x(before.n));
  const under = 15;
  const turn = (180 * slope) / Math.PI;
  return [words(right - under * Math.sin(slope), end + under * Math.cos(slope), name, 'end', turn)];
}
