/** The frame of a chart, and styles that tell series apart without colour: symbols, dashes and stripes. */
import { dot, type PlotOptions, plot, ruleY, type SymbolType } from '@observablehq/plot';
import type { ChartOptions, TableData } from '../../bench/parts.js';
import { h, svg, TableView } from '../dom.js';
import './charts.css';

/** Assigns the colours of charts.css to names. */

export const PALETTE_SIZE = 8;

export const colourAt = (position: number): string => `var(--series-${(position % PALETTE_SIZE) + 1})`;

/** Passes in execution order, so that each has its colour in whatever order charts are drawn. */
const known = ['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce', 'combine windows (CPU)', 'host, waiting'];
/** Phases in which the host does not compute; they share one colour. */
const waiting = ['encode', 'submit to result', 'read back'];

const positions = new Map([
  ...known.map((name, i) => [name, i] as const),
  ...waiting.map((name) => [name, known.length - 1] as const),
]);

/**
 * Returns the colour of a pass or phase, the same in all charts. Other names get the next free
 * colour.
 */
export function colourOf(name: string): string {
  const position = positions.get(name) ?? positions.size;
  positions.set(name, position);
  return colourAt(position);
}

const SYMBOLS: readonly SymbolType[] = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star', 'wye', 'hexagon'];
const DASHES = ['none', '7 4', '2 3', '10 3 2 3', '14 4', '5 2 5 6', '2 6', '14 3 2 3 2 3'];
const BOUND_DASH = '2 5';

/** Returns the line of a series. A bound has a dash of its own, and no points. */
export const lineStyle = (position: number, isBound = false) => ({
  stroke: colourAt(position),
  strokeWidth: 2,
  strokeDasharray: isBound ? BOUND_DASH : (DASHES[position % DASHES.length] as string),
});

export const pointStyle = (position: number) => ({
  fill: colourAt(position),
  stroke: 'var(--card)',
  r: 5,
  symbol: SYMBOLS[position % SYMBOLS.length] as SymbolType,
});

/** Draws a sample of a line for the legend, with a point if the line has points. */
export function lineSwatch(position: number, isBound = false, hasPoints = !isBound): Element {
  const image = plot({
    ...{ width: 32, height: 14, margin: 0, axis: null, className: 'chart-swatch' },
    ...{ x: { domain: [0, 2] }, y: { domain: [0, 2] } },
    marks: [ruleY([1], lineStyle(position, isBound)), hasPoints ? dot([[1, 1]], pointStyle(position)) : null],
  });
  image.setAttribute('aria-hidden', 'true');
  // its rules are those of the picture, and would count as text of the legend
  image.querySelector('style')?.remove();
  return image;
}

/** Returns the fill of a bound: stripes of a colour. All pictures share the patterns of the page. */
export function striped(colour: string): string {
  const id = `chart-striped-${colour.replaceAll(/\W/g, '')}`;
  if (document.getElementById(id) === null) {
    const ground = svg('rect', { width: 6, height: 6, fill: colour });
    const lines = svg('path', { d: 'M-1 1 1-1M0 6 6 0M5 7 7 5', stroke: 'var(--card)', 'stroke-width': 1.5 });
    const pattern = svg('pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse' }, ground, lines);
    document.body.append(svg('svg', { class: 'chart-patterns', 'aria-hidden': 'true' }, pattern));
  }
  return `url(#${id})`;
}

/** Draws a block for the legend, with its text in the picture. */
export const blockSwatch = (fill: string, text = ''): Element =>
  h(
    'span',
    { class: 'chart-block', 'aria-hidden': 'true' },
    svg('svg', {}, svg('rect', { width: '100%', height: '100%', fill })),
    text === '' ? null : h('b', {}, text),
  );

export interface Chart<Data> {
  readonly root: HTMLElement;
  update(data: Data): void;
}

/** One set of data, ready to be drawn at any width. */
interface Drawing {
  /** Returns the marks and scales of the picture, which is `width` CSS pixels wide. */
  plot(width: number): PlotOptions;
  readonly legend?: readonly { readonly swatch: Element; readonly name: string }[];
  readonly numbers: Pick<TableData, 'heads' | 'rows'>;
}

/** Margins of a picture with axes on the left and below, in CSS pixels. */
export const MARGIN = { marginLeft: 56, marginRight: 14, marginBottom: 42 } as const;

/** Returns a kind of chart: a figure with its picture, its legend, and its numbers as a table. */
export const chartOf =
  <Data>(draw: (data: Data) => Drawing) =>
  ({ caption, summary }: ChartOptions): Chart<Data> => {
    // not empty, as empty parts of a chart are not displayed and have no width
    const picture = h('div', { class: 'chart-plot' }, h('div'));
    const table = new TableView();
    const legend = h('ul', { class: 'chart-entries' });
    const numbers = h('details', { class: 'chart-numbers' }, h('summary', {}, 'Values as a table'), table.root);
    let drawing: Drawing | null = null;
    let width = 0;
    const paint = (): void => {
      if (width === 0 || drawing === null) return;
      const image = plot({ ...MARGIN, width, ariaLabel: summary, className: 'chart-picture', ...drawing.plot(width) });
      image.setAttribute('role', 'img');
      picture.replaceChildren(image);
    };
    new ResizeObserver(([entry]) => {
      const found = Math.floor(entry?.contentRect.width ?? 0);
      // closed details have no width; the picture stays for when they open again
      if (found === 0 || found === width) return;
      width = found;
      paint();
    }).observe(picture);
    return {
      root: h('figure', { class: 'chart' }, h('figcaption', {}, caption), picture, legend, numbers),
      update(data) {
        drawing = draw(data);
        table.update({ caption, ...drawing.numbers });
        const entries = drawing.legend ?? [];
        legend.replaceChildren(...entries.map(({ swatch, name }) => h('li', {}, swatch, h('span', {}, name))));
        paint();
      },
    };
  };
