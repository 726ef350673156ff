/** Marks that distinguish series without colour: shapes of points and dashes of lines. */
import { h, svg } from '../dom.js';

/** SVG paths of about radius 1. */
const SHAPES = [
  'M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z',
  'M-.9-.9H.9V.9H-.9Z',
  'M0-1.2 1.15.85H-1.15Z',
  'M0-1.3 1.3 0 0 1.3-1.3 0Z',
  'M0 1.2 1.15-.85H-1.15Z',
  'M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z',
  'M-1-1H1L-1 1H1Z',
  'M-1.1-.6-.6-1.1 0-.5.6-1.1 1.1-.6.5 0 1.1.6.6 1.1 0 .5-.6 1.1-1.1.6-.5 0Z',
];
const POINT_RADIUS = 4.5;

const DASHES = ['', '7 4', '2 3', '10 3 2 3', '14 4', '5 2 5 6', '2 6', '14 3 2 3 2 3'];

/** Dash of a limit, which is drawn without points. */
export const BOUND_DASH = '2 5';
export const dashAt = (position: number): string => DASHES[position % DASHES.length] ?? '';

/** Draws a line in `currentColor`. */
export const line = (d: string, dash = '', width = 2): SVGElement =>
  svg('path', { class: 'chart-line', d, 'stroke-width': width, 'stroke-dasharray': dash });

/** Draws the point of a series, with its tooltip. */
export function point(position: number, x: number, y: number, about = ''): SVGElement {
  const transform = `translate(${x} ${y}) scale(${POINT_RADIUS})`;
  const d = SHAPES[position % SHAPES.length] ?? '';
  return svg('path', { class: 'chart-point', d, transform }, svg('title', {}, about));
}

/** Groups marks of one series, in its colour. */
export const inColour = (colour: string, ...marks: readonly SVGElement[]): SVGElement =>
  svg('g', { style: `color: ${colour}` }, ...marks);

/** Draws a sample of a line for the legend, with a point if the line has points. */
export const lineSwatch = (colour: string, dash: string, position?: number): Element =>
  svg(
    'svg',
    { viewBox: '0 0 32 14', class: 'chart-swatch', 'aria-hidden': 'true' },
    inColour(colour, line('M0 7H32', dash), ...(position === undefined ? [] : [point(position, 16, 7)])),
  );

/** Classes of charts.css whose patterns distinguish blocks without colour. The third is plain. */
const TEXTURES = ['chart-striped', 'chart-dotted', '', 'chart-barred'];
export const textureAt = (position: number): string => TEXTURES[position % TEXTURES.length] ?? '';

/** Draws a coloured block for the legend, with its text or texture in the plot. */
export const blockSwatch = (colour: string, text: string, texture = ''): Element =>
  h(
    'span',
    { class: `chart-block ${texture}`, style: `background-color: ${colour}`, 'aria-hidden': 'true' },
    text === '' ? '' : h('span', {}, text),
  );
