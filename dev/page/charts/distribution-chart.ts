import type uPlot from 'uplot';
import { formatMs } from '../../bench/format.js';
import { median } from '../../bench/statistics.js';
import type { Chart, ChartOptions } from './chart.js';
import { colourAt } from './colours.js';
import { dashAt, lineSwatch } from './marks.js';
import { axis, type Drawing, haloText, plotChart, setFont, uprightAxis } from './plot.js';
import type { Theme } from './theme.js';
import { formatTick } from './ticks.js';

export interface DistributionData {
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

interface Sample {
  readonly name: string;
  readonly sorted: readonly number[];
  readonly median: number | null;
}

const HEIGHT = 280;
const LABEL_HEIGHT = 17;
/** Of the y axis, in %: where a sample's ticks are, under 0 %. */
const TICK_ROW = 6;
/** More ticks than these run into each other. */
const MOST_TICKS = 400;

/** Which share of the runs took at most so long, as a step for every run. */
export const distributionChart = (options: ChartOptions<DistributionData>): Chart<DistributionData> =>
  plotChart(options, draw);

function draw({ series }: DistributionData): Drawing {
  const samples = series.map(({ name, values }): Sample => {
    const sorted = [...values].sort((a, b) => a - b);
    return { name, sorted, median: median(sorted) };
  });
  const [min, max] = timeRange(samples);
  const times = [...new Set([min, ...samples.flatMap(({ sorted }) => sorted), max])].sort((a, b) => a - b);
  const shares = samples.map(({ sorted }) => sharesAt(times, sorted));
  const ticksFit = samples.every(({ sorted }) => sorted.length <= MOST_TICKS);

  const plot: Drawing['plot'] = (theme, paths) => ({
    // Above the plot each median's label has a line of its own, so that near medians do not write over each other.
    padding: [samples.length * LABEL_HEIGHT + 6, 12, 0, 0],
    scales: {
      x: { time: false, range: [min, max] },
      y: { range: [ticksFit ? -TICK_ROW * samples.length - 2 : 0, 102] },
    },
    axes: [
      axis(theme, {
        label: 'ms',
        space: 60,
        size: 28,
        values: (_u, splits, _axis, _space, step) => splits.map((value) => formatTick(value, step)),
      }),
      uprightAxis(theme, {
        splits: () => [0, 25, 50, 75, 100],
        values: (_, splits) => splits.map((value) => `${value} %`),
      }),
    ],
    series: [
      {},
      ...samples.map((_, i): uPlot.Series => {
        const steps = paths.stepped?.({ align: 1 });
        return {
          ...(steps === undefined ? {} : { paths: steps }),
          stroke: theme.series[colourAt(i).index] ?? theme.ink,
          width: 2,
          dash: dashAt(i),
          points: { show: false },
        };
      }),
    ],
    hooks: {
      drawAxes: [(u) => drawMedians(u, samples, theme)],
      draw: ticksFit ? [(u) => drawTicks(u, samples, theme)] : [],
    },
  });

  const longest = Math.max(0, ...samples.map(({ sorted }) => sorted.length));
  return {
    height: HEIGHT + samples.length * LABEL_HEIGHT,
    data: [times, ...shares],
    plot,
    legend: samples.map(({ name }, i) => ({ name, swatch: lineSwatch(colourAt(i), dashAt(i)) })),
    readout: (index) => ({
      head: `at most ${formatMs(times[index] ?? 0)} ms`,
      values: shares.map((share) => `${(share[index] ?? 0).toFixed(0)} % of the runs`),
    }),
    numbers: {
      heads: ['Run, fastest first', ...samples.map(({ name }) => `${name}, ms`)],
      rows: [
        ['median', ...samples.map((sample) => formatMs(sample.median))],
        ...Array.from({ length: longest }, (_, run) => [
          String(run + 1),
          ...samples.map(({ sorted }) => formatMs(sorted[run] ?? null)),
        ]),
      ],
    },
  };
}

function timeRange(samples: readonly Sample[]): [number, number] {
  const ends = samples.flatMap(({ sorted }) => [sorted.at(0) ?? [], sorted.at(-1) ?? []].flat());
  if (ends.length === 0) return [0, 1];
  const [min, max] = [Math.min(...ends), Math.max(...ends)];
  const margin = max > min ? 0.06 * (max - min) : 0.05 * max || 1;
  return [Math.max(0, min - margin), max + margin];
}

/** In %, at each of some ascending times. */
function sharesAt(times: readonly number[], sorted: readonly number[]): number[] {
  let below = 0;
  return times.map((time) => {
    while ((sorted[below] ?? Number.POSITIVE_INFINITY) <= time) below++;
    return sorted.length === 0 ? 0 : (100 * below) / sorted.length;
  });
}

function drawMedians(u: uPlot, samples: readonly Sample[], theme: Theme): void {
  const { ctx, bbox } = u;
  ctx.save();
  setFont(ctx, theme, 600);
  ctx.lineWidth = devicePixelRatio;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';
  for (const [row, { name, median }] of samples.entries()) {
    if (median === null) continue;
    const x = u.valToPos(median, 'x', true);
    const top = bbox.top - (row * LABEL_HEIGHT + 4) * devicePixelRatio;
    const colour = theme.series[colourAt(row).index] ?? theme.ink;
    ctx.globalAlpha = 0.6;
    ctx.strokeStyle = colour;
    ctx.setLineDash(dashAt(row).map((length) => length * devicePixelRatio));
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour;
    const text = `${name}: median ${formatMs(median)} ms`;
    const { width } = ctx.measureText(text);
    const left = Math.min(x - width / 2, bbox.left + bbox.width - width);
    haloText(ctx, text, Math.max(left, 2 * devicePixelRatio), top, theme.card);
  }
  ctx.restore();
}

function drawTicks(u: uPlot, samples: readonly Sample[], theme: Theme): void {
  const { ctx } = u;
  const y = (share: number): number => u.valToPos(share, 'y', true);
  ctx.save();
  ctx.globalAlpha = 0.7;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([]);
  for (const [row, { sorted }] of samples.entries()) {
    ctx.beginPath();
    for (const value of sorted) {
      const x = u.valToPos(value, 'x', true);
      ctx.moveTo(x, y(-TICK_ROW * row - 2.5));
      ctx.lineTo(x, y(-TICK_ROW * (row + 1) - 0.5));
    }
    ctx.strokeStyle = theme.series[colourAt(row).index] ?? theme.ink;
    ctx.stroke();
  }
  ctx.restore();
}
