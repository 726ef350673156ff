/** Axes and what is drawn between them, in SVG: as wide as what holds it, in the page's colours, with the values that are pointed at. */
import { h, svg } from '../dom.js';
import type { Chart, ChartOptions } from './chart.js';
import { Frame } from './frame.js';
import { Legend, type LegendEntry, type Readout } from './legend.js';

/** Where there is something to tell, in CSS pixels from the left. */
interface Stop {
  readonly x: number;
  readonly readout: Readout;
}

/** One set of data, ready to be drawn in any width. */
export interface Drawing {
  readonly height: number;
  readonly paint: (width: number) => { readonly marks: readonly SVGElement[]; readonly stops: readonly Stop[] };
  readonly legend: readonly LegendEntry[];
  readonly numbers: { readonly heads: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

export function plotChart<Data>({ caption, summary }: ChartOptions, draw: (data: Data) => Drawing): Chart<Data> {
  const cursor = svg('path', { class: 'chart-cursor' });
  const picture = svg('svg', { role: 'img', 'aria-label': summary });
  const holder = h('div', { class: 'chart-plot' }, picture);
  const legend = new Legend('Point at or touch the chart for its values');
  const frame = new Frame(caption, holder, legend.root);
  let drawing: Drawing | null = null;
  let stops: readonly Stop[] = [];
  let width = 0;
  /** Where somebody points, from the left; null: nobody. */
  let pointed: number | null = null;

  const tell = (): void => {
    const from = (stop: Stop): number => Math.abs(stop.x - (pointed ?? 0));
    const nearest = pointed === null ? undefined : stops.toSorted((a, b) => from(a) - from(b))[0];
    cursor.setAttribute('d', nearest === undefined ? '' : `M${nearest.x} 0V${picture.clientHeight}`);
    legend.show(nearest?.readout ?? null);
  };
  const pointAt = ({ clientX }: PointerEvent): void => {
    pointed = clientX - picture.getBoundingClientRect().left;
    tell();
  };
  picture.addEventListener('pointerdown', pointAt);
  picture.addEventListener('pointermove', pointAt);
  picture.addEventListener('pointerleave', ({ pointerType }) => {
    // after a tap, too, browsers say that the pointer has left; then the values are to stay
    if (pointerType === 'mouse') pointed = null;
    tell();
  });

  const paint = (): void => {
    if (width === 0 || drawing === null) return;
    const painted = drawing.paint(width);
    stops = painted.stops;
    picture.replaceChildren(...painted.marks, cursor);
    tell();
  };
  const update = (data: Data): void => {
    drawing = draw(data);
    picture.setAttribute('height', String(drawing.height));
    legend.set(drawing.legend);
    frame.setNumbers(drawing.numbers.heads, drawing.numbers.rows);
    paint();
  };

  const observer = new ResizeObserver(([entry]) => {
    const found = Math.floor(entry?.contentRect.width ?? 0);
    // Closed details have no width: what is drawn stays for when they open again.
    if (found === 0 || found === width) return;
    width = found;
    paint();
  });
  observer.observe(holder);
  return { root: frame.root, update };
}

/** An axis: its ends, and what it is labelled with. */
export interface Axis {
  readonly range: readonly [from: number, to: number];
  readonly logarithmic?: boolean;
  readonly ticks: readonly number[];
  readonly label: (tick: number) => string;
}

export interface Plane {
  /** From values to CSS pixels. */
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly marks: readonly SVGElement[];
}

/** Room around the plane: for labels on the left and below, and so that the last one is not cut off. */
export const MARGIN = { left: 56, right: 14, bottom: 42 } as const;

const project = ({ range: [from, to], logarithmic }: Axis, start: number, end: number) => {
  const of = logarithmic === true ? Math.log : (value: number): number => value;
  return (value: number): number => start + ((end - start) * (of(value) - of(from))) / (of(to) - of(from) || 1);
};

/** The plane of two axes with its grid. @param name of the x axis */
export function plane(width: number, height: number, top: number, x: Axis, y: Axis, name: string): Plane {
  const [left, right, bottom] = [MARGIN.left, width - MARGIN.right, height - MARGIN.bottom];
  const [toX, toY] = [project(x, left, right), project(y, bottom, top)];
  const text = (at: readonly [number, number], label: string, anchor: string): SVGElement =>
    svg('text', { class: 'chart-label', x: at[0], y: at[1], 'text-anchor': anchor }, label);
  const grid = [
    ...x.ticks.map((tick) => `M${toX(tick)} ${top}V${bottom + 5}`),
    ...y.ticks.map((tick) => `M${left - 5} ${toY(tick)}H${right}`),
  ].join('');
  return {
    x: toX,
    y: toY,
    marks: [
      svg('path', { class: 'chart-grid', d: grid }),
      ...x.ticks.map((tick) => text([toX(tick), bottom + 19], x.label(tick), 'middle')),
      ...y.ticks.map((tick) => text([left - 9, toY(tick) + 4], y.label(tick), 'end')),
      text([(left + right) / 2, height - 4], name, 'middle'),
    ],
  };
}

/** Words in the plane, that lines may run behind; in `currentColor`. */
export const words = (x: number, y: number, text: string, anchor = 'end', turn = 0): SVGElement =>
  svg('text', { class: 'chart-words', transform: `translate(${x} ${y}) rotate(${turn})`, 'text-anchor': anchor }, text);
