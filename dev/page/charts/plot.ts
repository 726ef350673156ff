/** uPlot in the page: sized by what holds it, in the page's colours, with a legend in HTML. */

import type uPlot from 'uplot';
import { h } from '../dom.js';
import { type Chart, type ChartOptions, summarize } from './chart.js';
import { Frame } from './frame.js';
import { Legend, type LegendEntry, type Readout } from './legend.js';
import { loadUPlot } from './load-uplot.js';
import { onThemeChange, readTheme, type Theme } from './theme.js';

/** One set of data, ready to be drawn in any theme and width. */
export interface Drawing {
  readonly height: number;
  readonly data: uPlot.AlignedData;
  readonly plot: (
    theme: Theme,
    paths: uPlot.Series.PathBuilderFactories,
  ) => Pick<uPlot.Options, 'series' | 'scales' | 'axes' | 'cursor' | 'hooks' | 'padding'>;
  readonly legend: readonly LegendEntry[];
  /** What the legend says at a place of the data. */
  readonly readout: (index: number) => Readout;
  readonly numbers: { readonly heads: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

export function plotChart<Data>(options: ChartOptions<Data>, draw: (data: Data) => Drawing): Chart<Data> {
  const holder = h('div', { class: 'chart-plot' });
  const legend = new Legend('Point at or touch the chart for its values');
  const frame = new Frame(options.caption, holder, legend.root);
  const finger = new Finger();
  const end = new AbortController();
  let drawing: Drawing;
  let summary: string;
  let width = 0;
  let library: typeof uPlot | null = null;
  let plot: uPlot | null = null;

  // Made anew for new data and new colours: both change nearly all that uPlot was told.
  const make = (): void => {
    const cursor = plot?.cursor;
    plot?.destroy();
    plot = null;
    // Out of the page there are no colours to read: made again when it is back, and has a width.
    if (!holder.isConnected) width = 0;
    if (width === 0 || library === null) return;
    const { cursor: ownCursor, hooks, ...rest } = drawing.plot(readTheme(holder), library.paths);
    plot = new library(
      {
        ...rest,
        width,
        height: drawing.height,
        legend: { show: false },
        cursor: {
          y: false,
          drag: { x: false, y: false, setScale: false },
          move: snap,
          bind: finger.bind,
          ...ownCursor,
        },
        hooks: { ...hooks, setCursor: [...(hooks?.setCursor ?? []), readOut] },
      },
      drawing.data,
      holder,
    );
    const { canvas } = plot.ctx;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', summary);
    finger.attachTo(plot);
    if (cursor?.left !== undefined && cursor.left >= 0) plot.setCursor({ left: cursor.left, top: cursor.top ?? 0 });
  };

  const readOut = ({ cursor: { idx } }: uPlot): void =>
    legend.show(idx === null || idx === undefined ? null : drawing.readout(idx));

  const update = (data: Data): void => {
    drawing = draw(data);
    summary = summarize(options, data);
    // Before the chart has a width it takes its height already, so that nothing jumps.
    holder.style.minHeight = `${drawing.height}px`;
    legend.set(drawing.legend);
    frame.setNumbers(options.caption, drawing.numbers.heads, drawing.numbers.rows);
    make();
  };

  const observer = new ResizeObserver(([entry]) => {
    const found = Math.floor(entry?.contentRect.width ?? 0);
    // Closed details have no width: what is drawn stays for when they open again.
    if (found === 0 || found === width) return;
    width = found;
    if (plot === null) make();
    else plot.setSize({ width, height: drawing.height });
  });

  update(options.data);
  observer.observe(holder);
  onThemeChange(make, end.signal);
  loadUPlot().then(
    (loaded) => {
      if (end.signal.aborted) return;
      library = loaded;
      make();
    },
    (error) => holder.replaceChildren(h('p', { class: 'note' }, `The picture cannot be drawn: ${error}`)),
  );

  return {
    root: frame.root,
    update,
    destroy(): void {
      observer.disconnect();
      end.abort();
      plot?.destroy();
      plot = null;
      library = null;
      frame.root.remove();
    },
  };
}

/** The cursor is where the values are that the legend tells. */
const snap: uPlot.Cursor.MousePosRefiner = (plot, left, top) => [
  left < 0 ? left : plot.valToPos(plot.data[0][plot.posToIdx(left)] ?? 0, 'x'),
  top,
];

/** uPlot knows the mouse alone: here a finger that moves sideways moves the cursor (charts.css leaves the page its scrolling). */
class Finger {
  #isLast = false;

  /** After a tap browsers say that the mouse has left; the values are to stay. */
  readonly bind: uPlot.Cursor.Bind = {
    mouseleave: (_plot, _target, leave) => (event) => (this.#isLast ? null : leave(event)),
  };

  attachTo(plot: uPlot): void {
    const move = ({ pointerType, clientX, clientY }: PointerEvent): void => {
      this.#isLast = pointerType !== 'mouse';
      if (!this.#isLast) return;
      const { left, top, width } = plot.over.getBoundingClientRect();
      const x = Math.min(Math.max(clientX - left, 0), width);
      plot.setCursor({ left: snap(plot, x, 0)[0], top: clientY - top });
    };
    plot.over.addEventListener('pointerdown', move);
    plot.over.addEventListener('pointermove', move);
  }
}

const FONT_SIZE = 12;

/** An axis in the page's colours. */
export const axis = ({ soft, line, font }: Theme, rest: uPlot.Axis): uPlot.Axis => ({
  stroke: soft,
  font: `${FONT_SIZE}px ${font}`,
  labelFont: `${FONT_SIZE}px ${font}`,
  labelSize: 18,
  labelGap: 0,
  gap: 4,
  grid: { stroke: line, width: 1 },
  ticks: { stroke: line, width: 1, size: 5 },
  ...rest,
});

/** How wide the widest of some labels is, in CSS pixels. */
export function widest(plot: uPlot, { font }: Theme, labels: readonly string[]): number {
  const { ctx } = plot;
  ctx.save();
  ctx.font = `${FONT_SIZE}px ${font}`;
  const width = Math.max(0, ...labels.map((label) => ctx.measureText(label).width));
  ctx.restore();
  return width;
}

/** An upright axis that is as wide as its labels. */
export const uprightAxis = (theme: Theme, rest: uPlot.Axis): uPlot.Axis =>
  axis(theme, { size: (plot, values) => Math.ceil(widest(plot, theme, values ?? [])) + 12, ...rest });

/** Sets a context up for text in the page's font. Canvas pixels: uPlot does not scale its context. */
export function setFont(ctx: CanvasRenderingContext2D, { font }: Theme, weight = 400): void {
  ctx.font = `${weight} ${FONT_SIZE * devicePixelRatio}px ${font}`;
}

/** Text that lines may run behind, with an edge of the background's colour. */
export function haloText(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, background: string): void {
  ctx.save();
  ctx.setLineDash([]);
  ctx.strokeStyle = background;
  ctx.lineWidth = 4 * devicePixelRatio;
  ctx.lineJoin = 'round';
  ctx.strokeText(text, x, y);
  ctx.restore();
  ctx.fillText(text, x, y);
}
