import { formatMs, formatSize, shortSize } from '../../bench/format.js';
import type { ChartData, TimePoint, TimeSeries } from '../../bench/parts.js';
import { svg } from '../dom.js';
import { colourAt } from './colours.js';
import { chartOf, type Drawing } from './frame.js';
import { BOUND_DASH, dashAt, inColour, line, lineSwatch, point } from './marks.js';
import { MARGIN, type Plane, plane, plot } from './plot.js';
import { sizeTicks, timeLabel, timeTicks } from './ticks.js';

const HEIGHT = 340;

/** Draws time against the number of points, both on logarithmic axes. */
export const timeChart = chartOf(draw);

function draw({ series }: ChartData['time']): Drawing {
  const byN = series.map(({ points }) => new Map(points.map((each) => [each.n, each])));
  const sizes = [...new Set(byN.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  const times = timeRange(series);
  const range = sizeRange(sizes);

  const paint: Drawing['paint'] = (width, image) => {
    const xTicks = sizeTicks(...range, width - MARGIN.left - MARGIN.right);
    const space = plane(
      width,
      HEIGHT,
      12,
      { range, logarithmic: true, ticks: xTicks, label: shortSize },
      { range: times, logarithmic: true, ticks: timeTicks(...times), label: timeLabel },
      'points',
    );
    const marks = series.map(({ kind, points: all }, i) => {
      const known = all.filter(({ ms }) => ms > 0).toSorted((a, b) => a.n - b.n);
      const course = known.map(({ n, ms }, at) => `${at === 0 ? 'M' : 'L'}${space.x(n)} ${space.y(ms)}`).join('');
      const about = (at: TimePoint): string => `${formatSize(at.n)} points: ${describe(at)} ms`;
      const points = known.map((at) => point(i, space.x(at.n), space.y(at.ms), about(at)));
      const details = kind === 'bound' ? [] : [whiskers(space, known), ...points];
      return inColour(colourAt(i), line(course, kind === 'bound' ? BOUND_DASH : dashAt(i)), ...details);
    });
    return plot(image, HEIGHT, [...space.marks, ...marks]);
  };

  return {
    paint,
    legend: series.map(({ name, kind }, i) => ({
      name,
      swatch: kind === 'bound' ? lineSwatch(colourAt(i), BOUND_DASH) : lineSwatch(colourAt(i), dashAt(i), i),
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

/** Draws the range from the shortest to the longest time. */
function whiskers({ x, y }: Plane, points: readonly TimePoint[]): SVGElement {
  const d = points.map(({ n, lowMs, highMs }) => {
    if (lowMs === undefined || highMs === undefined || lowMs <= 0) return '';
    const [left, low, high] = [x(n) - 3, y(lowMs), y(highMs)];
    return `M${left} ${low}h6m-3 0V${high}m-3 0h6`;
  });
  return svg('path', { class: 'chart-line', d: d.join('') });
}
