import type uPlot from 'uplot';
import { formatMs } from '../../bench/format.js';
import type { Chart, ChartOptions } from './chart.js';
import { colourOf } from './colours.js';
import { blockSwatch, canvasFill } from './marks.js';
import { axis, type Drawing, haloText, plotChart, setFont, uprightAxis, widest } from './plot.js';
import type { Theme } from './theme.js';

export interface SharesData {
  readonly bars: readonly {
    readonly label: string;
    readonly parts: readonly { readonly name: string; readonly ms: number }[];
  }[];
}

const HEIGHT = 300;
/** Of a bar's column, and in CSS pixels at most. */
const BAR_WIDTH = [0.72, 88] as const;

/** What share of each bar's time its parts take. Each part is numbered, and named where its name fits. */
export const stackedShares = (options: ChartOptions<SharesData>): Chart<SharesData> => plotChart(options, draw);

function draw({ bars }: SharesData): Drawing {
  const names = [...new Set(bars.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const times = bars.map(({ parts }) =>
    names.map((name) => parts.reduce((sum, part) => (part.name === name ? sum + part.ms : sum), 0)),
  );
  const totals = times.map((parts) => parts.reduce((sum, ms) => sum + ms, 0));
  const share = (bar: number, part: number): number => (100 * (times[bar]?.[part] ?? 0)) / (totals[bar] || 1);
  /** Where each part ends in each bar, in %. */
  const ends = names.map((_, part) =>
    bars.map((_, bar) => names.slice(0, part + 1).reduce((sum, _, i) => sum + share(bar, i), 0)),
  );
  // A bar is drawn from 0 to where its part ends, the last first: the earlier ones lie over it.
  const drawn = names.map((_, i) => names.length - 1 - i);

  const plot: Drawing['plot'] = (theme, paths) => {
    let barWidth = 0;
    const barPaths = paths.bars?.({
      size: [...BAR_WIDTH],
      each: (_u, _series, _index, _left, _top, width) => {
        barWidth = width;
      },
    });
    const labels = bars.map(({ label }) => label);
    const areTurned = (u: uPlot): boolean => widest(u, theme, labels) + 6 > (u.width - 60) / Math.max(1, bars.length);
    return {
      padding: [8, 8, 0, 0],
      cursor: { x: false, points: { show: false } },
      scales: { x: { time: false, range: [-0.5, Math.max(1, bars.length) - 0.5] }, y: { range: [0, 100] } },
      axes: [
        axis(theme, {
          splits: () => bars.map((_, bar) => bar),
          values: () => labels,
          grid: { show: false },
          rotate: (u) => (areTurned(u) ? 90 : 0),
          size: (u) => (areTurned(u) ? widest(u, theme, labels) + 14 : 28),
        }),
        uprightAxis(theme, {
          splits: () => [0, 25, 50, 75, 100],
          values: (_, splits) => splits.map((value) => `${value} %`),
        }),
      ],
      series: [
        {},
        ...drawn.map(
          (part): uPlot.Series => ({
            ...(barPaths === undefined ? {} : { paths: barPaths }),
            fill: canvasFill(colourOf(names[part] ?? ''), theme) as string,
            stroke: theme.card,
            width: 1,
            points: { show: false },
          }),
        ),
      ],
      hooks: {
        setCursor: [markBar],
        draw: [(u) => drawNames(u, names, ends, barWidth, theme)],
      },
    };
  };

  const describe = (bar: number, part: number): string =>
    `${formatMs(times[bar]?.[part] ?? 0)} ms, ${share(bar, part).toFixed(0)} %`;
  return {
    height: HEIGHT,
    data: [bars.map((_, bar) => bar), ...drawn.map((part) => ends[part] ?? [])],
    plot,
    legend: names.map((name, i) => ({ name, swatch: blockSwatch(colourOf(name), String(i + 1)) })),
    readout: (bar) => ({
      head: `${bars[bar]?.label ?? ''}: ${formatMs(totals[bar] ?? 0)} ms`,
      values: names.map((_, part) => describe(bar, part)),
    }),
    numbers: {
      heads: ['Pass', ...bars.map(({ label }) => label)],
      rows: [
        ...names.map((name, part) => [name, ...bars.map((_, bar) => describe(bar, part))]),
        ['all', ...totals.map((ms) => `${formatMs(ms)} ms`)],
      ],
    },
  };
}

/** Shades the column that the legend speaks of. */
function markBar(u: uPlot): void {
  const { idx } = u.cursor;
  const [left, right] = [u.valToPos((idx ?? 0) - 0.5, 'x'), u.valToPos((idx ?? 0) + 0.5, 'x')];
  const width = idx === null || idx === undefined ? 0 : right - left;
  u.setSelect({ left, width, top: 0, height: u.over.clientHeight }, false);
}

function drawNames(
  u: uPlot,
  names: readonly string[],
  ends: readonly (readonly number[])[],
  barWidth: number,
  theme: Theme,
): void {
  const { ctx } = u;
  const y = (share: number): number => u.valToPos(share, 'y', true);
  ctx.save();
  setFont(ctx, theme, 600);
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = theme.card;
  names.forEach((name, part) => {
    ends[part]?.forEach((end, bar) => {
      const start = ends[part - 1]?.[bar] ?? 0;
      if (y(start) - y(end) < 18 * devicePixelRatio) return;
      const text = [`${part + 1} ${name}`, `${part + 1}`].find(
        (candidate) => ctx.measureText(candidate).width + 6 * devicePixelRatio < barWidth,
      );
      if (text === undefined) return;
      const [x, middle] = [u.valToPos(bar, 'x', true), (y(start) + y(end)) / 2];
      haloText(ctx, text, x, middle, theme.series[colourOf(name).index] ?? theme.ink);
    });
  });
  ctx.restore();
}
