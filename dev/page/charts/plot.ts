/** Draws axes and the plot between them in SVG, in the page's colours. */
import { h, svg } from '../dom.js';
import type { Drawing } from './frame.js';

/** Makes the picture of a plot. */
export const plot = (image: Parameters<Drawing['paint']>[1], height: number, marks: readonly SVGElement[]): Element =>
  h('div', { class: 'chart-plot' }, svg('svg', { ...image, height }, ...marks));

/** An axis: its range and its labels. */
interface Axis {
  readonly range: readonly [from: number, to: number];
  readonly logarithmic?: boolean;
  readonly ticks: readonly number[];
  readonly label: (tick: number) => string;
}

export interface Plane {
  /** Maps values to CSS pixels. */
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly marks: readonly SVGElement[];
}

/**
 * Margins around the plane, for labels on the left and below, and for the end of the last label.
 */
export const MARGIN = { left: 56, right: 14, bottom: 42 } as const;

const project = ({ range: [from, to], logarithmic }: Axis, start: number, end: number) => {
  const of = logarithmic === true ? Math.log : (value: number): number => value;
  return (value: number): number => start + ((end - start) * (of(value) - of(from))) / (of(to) - of(from) || 1);
};

/** Draws the plane of two axes with its grid. @param name label of the x axis */
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

/** Draws text in `currentColor` with a background, so that lines may pass behind it. */
export const words = (x: number, y: number, text: string, anchor: string): SVGElement =>
  svg('text', { class: 'chart-words', x, y, 'text-anchor': anchor }, text);
