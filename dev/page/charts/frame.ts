import { type PlotOptions, plot } from '@observablehq/plot';
import type { ChartOptions, TableData } from '../../bench/parts.js';
import { h } from '../dom.js';
import { TableView } from '../table-view.js';
import './charts.css';

export interface Chart<Data> {
  readonly root: HTMLElement;
  update(data: Data): void;
}

/** One set of data, ready to be drawn at any width. */
export interface Drawing {
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
