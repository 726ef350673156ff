import type uPlot from 'uplot';
import { formatMs, formatSize } from '../../bench/format.js';
import type { Chart, ChartOptions } from './chart.js';
import { colourAt } from './colours.js';
import { BOUND_DASH, lineSwatch, shapeAt } from './marks.js';
import { axis, type Drawing, haloText, plotChart, setFont, uprightAxis } from './plot.js';
import type { Theme } from './theme.js';
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

const HEIGHT = 320;
const POINT_RADIUS = 4.5;

/** Time against the number of points, both logarithmic. */
export const timeChart = (options: ChartOptions<TimeData>): Chart<TimeData> => plotChart(options, draw);

function draw({ series }: TimeData): Drawing {
  const byN = series.map(({ points }) => new Map(points.map((point) => [point.n, point])));
  const sizes = [...new Set(byN.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  const [minMs, maxMs] = timeRange(series);
  const [minN, maxN] = sizeRange(sizes);

  const plot: Drawing['plot'] = (theme) => ({
    padding: [12, 12, 0, 0],
    scales: {
      x: { time: false, distr: 3, log: 2, range: [minN, maxN] },
      y: { distr: 3, log: 10, range: [minMs, maxMs] },
    },
    axes: [
      axis(theme, {
        label: 'points',
        splits: ({ width }) => sizeTicks(sizes, minN, maxN, width - 60),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map(sizeLabel),
        size: 28,
      }),
      uprightAxis(theme, {
        splits: () => timeTicks(minMs, maxMs),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map(timeLabel),
      }),
    ],
    series: [
      {},
      ...series.map(({ kind }, i): uPlot.Series => {
        const colour = theme.series[colourAt(i).index] ?? theme.ink;
        const line = { stroke: colour, width: 2, spanGaps: true };
        if (kind === 'bound') return { ...line, dash: BOUND_DASH, points: { show: false } };
        return {
          ...line,
          points: { show: true, paths: pointsOf(shapeAt(i)), fill: colour, stroke: theme.card, width: 1 },
        };
      }),
    ],
    hooks: {
      drawSeries: [
        (u, i) => {
          const { kind, points } = series[i - 1] ?? {};
          if (kind === 'measured') drawWhiskers(u, points ?? [], theme.series[colourAt(i - 1).index] ?? theme.ink);
        },
      ],
      draw: [(u) => drawBoundNames(u, series, theme)],
    },
  });

  return {
    height: HEIGHT,
    data: [sizes, ...byN.map((points) => sizes.map((n) => plottable(points.get(n)?.ms)))],
    plot,
    legend: series.map(({ name, kind }, i) => ({
      name,
      swatch: kind === 'bound' ? lineSwatch(colourAt(i), BOUND_DASH) : lineSwatch(colourAt(i), [], shapeAt(i)),
    })),
    readout: (index) => {
      const n = sizes[index] ?? 0;
      return {
        head: `${formatSize(n)} points`,
        values: byN.map((points) => (points.has(n) ? `${describe(points.get(n))} ms` : '–')),
      };
    },
    numbers: {
      heads: ['Points', ...series.map(({ name }) => `${name}, ms`)],
      rows: sizes.map((n) => [formatSize(n), ...byN.map((points) => describe(points.get(n)))]),
    },
  };
}

/** A logarithmic axis has no place for zero. */
const plottable = (ms: number | undefined): number | null => (ms !== undefined && ms > 0 ? ms : null);

function describe(point: TimePoint | undefined): string {
  if (point === undefined) return '–';
  const { ms, lowMs, highMs } = point;
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

/** uPlot's own points are circles. */
const pointsOf =
  (shape: string): uPlot.Series.Points.PathBuilder =>
  (u, seriesIndex, from, to) => {
    const one = new Path2D(shape);
    const radius = POINT_RADIUS * devicePixelRatio;
    const fill = new Path2D();
    for (let i = from; i <= to; i++) {
      const [n, ms] = [u.data[0][i], u.data[seriesIndex]?.[i]];
      if (n === undefined || ms === null || ms === undefined) continue;
      const move = new DOMMatrix().translate(u.valToPos(n, 'x', true), u.valToPos(ms, 'y', true)).scale(radius);
      fill.addPath(one, move);
    }
    return { fill, stroke: fill };
  };

function drawWhiskers(u: uPlot, points: readonly TimePoint[], colour: string): void {
  const { ctx } = u;
  const cap = 3 * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  for (const { n, lowMs, highMs } of points) {
    if (lowMs === undefined || highMs === undefined || lowMs <= 0) continue;
    const x = u.valToPos(n, 'x', true);
    const [low, high] = [u.valToPos(lowMs, 'y', true), u.valToPos(highMs, 'y', true)];
    ctx.moveTo(x, low);
    ctx.lineTo(x, high);
    for (const y of [low, high]) {
      ctx.moveTo(x - cap, y);
      ctx.lineTo(x + cap, y);
    }
  }
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([]);
  ctx.stroke();
  ctx.restore();
}

/** Along the underside of each bound's right end: measured times, which are longer, do not come there. */
function drawBoundNames(u: uPlot, series: readonly TimeSeries[], theme: Theme): void {
  const { ctx } = u;
  const place = ({ n, ms }: TimePoint): [number, number] => [u.valToPos(n, 'x', true), u.valToPos(ms, 'y', true)];
  ctx.save();
  setFont(ctx, theme);
  ctx.textAlign = 'right';
  ctx.textBaseline = 'top';
  series.forEach(({ name, kind, points }, i) => {
    const [last, before] = points.toSorted((a, b) => b.n - a.n);
    // one point has no line to stand under; the legend names it
    if (kind !== 'bound' || last === undefined || before === undefined) return;
    const [[x, y], [fromX, fromY]] = [place(last), place(before)];
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(Math.atan2(y - fromY, x - fromX));
    ctx.fillStyle = theme.series[colourAt(i).index] ?? theme.ink;
    haloText(ctx, name, 0, 5 * devicePixelRatio, theme.card);
    ctx.restore();
  });
  ctx.restore();
}
