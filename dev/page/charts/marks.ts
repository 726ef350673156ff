/** What tells series apart without colour: the shapes of their points and the dashes of their lines. */
import { h } from '../dom.js';
import type { Colour } from './colours.js';
import type { Theme } from './theme.js';

/** SVG paths of about radius 1, for canvas and legend alike. */
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

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 4], [5, 2, 5, 6], [2, 6], [14, 3, 2, 3, 2, 3]];

export const BOUND_DASH = [6, 5];

export const shapeAt = (position: number): string => SHAPES[position % SHAPES.length] ?? '';
export const dashAt = (position: number): number[] => DASHES[position % DASHES.length] ?? [];

const SVG = 'http://www.w3.org/2000/svg';

function svg(tag: string, attributes: Readonly<Record<string, string | number>>, ...children: Element[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** A piece of a line for the legend, with its point where it has points. */
export function lineSwatch(colour: Colour, dash: readonly number[], shape?: string): Element {
  const line = svg('path', {
    d: 'M0 7H32',
    stroke: 'currentColor',
    'stroke-width': 2,
    'stroke-dasharray': dash.join(' '),
  });
  const point =
    shape === undefined
      ? []
      : [svg('path', { d: shape, fill: 'currentColor', transform: 'translate(16 7) scale(4.5)' })];
  const swatch = svg('svg', { viewBox: '0 0 32 14', class: 'chart-line', 'aria-hidden': 'true' }, line, ...point);
  swatch.style.color = colour.css;
  return swatch;
}

/** Gives an element the background of a colour, with its stripes. */
export function paint<E extends HTMLElement>(element: E, { css, hatched }: Colour): E {
  element.classList.add('chart-paint');
  element.classList.toggle('chart-hatched', hatched);
  element.style.setProperty('--colour', css);
  return element;
}

/** A block of a colour for the legend, with the text that stands for it in the plot. */
export const blockSwatch = (colour: Colour, text = ''): Element =>
  paint(h('span', { class: 'chart-block', 'aria-hidden': 'true' }, h('span', {}, text)), colour);

/** A colour as a canvas fills with it. */
export function canvasFill(colour: Colour, { series, card }: Theme): string | CanvasPattern {
  const plain = series[colour.index] ?? '';
  if (!colour.hatched) return plain;
  const side = Math.round(8 * devicePixelRatio);
  const tile = h('canvas', { width: side, height: side });
  const context = tile.getContext('2d');
  if (context === null) return plain;
  context.fillStyle = plain;
  context.fillRect(0, 0, side, side);
  context.strokeStyle = card;
  context.lineWidth = side / 5;
  // The neighbours' lines too: without them the corners of the tile would have gaps.
  for (const shift of [-side, 0, side]) {
    context.moveTo(shift - side, 2 * side);
    context.lineTo(shift + 2 * side, -side);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? plain;
}
