import type { TableData } from '../../bench/parts.js';
import { h } from '../dom.js';
import { TableView } from '../table-view.js';
import './charts.css';

/** A chart of the page. */
export interface Chart<Data> {
  readonly root: HTMLElement;
  update(data: Data): void;
}

export interface LegendEntry {
  readonly swatch: Element;
  readonly name: string;
}

/** Makes the frame of a chart: its caption, its legend, and its numbers as a table. */
export function makeFrame(caption: string, picture: HTMLElement) {
  const table = new TableView();
  const legend = h('ul', { class: 'chart-entries' });
  const numbers = h('details', { class: 'chart-numbers' }, h('summary', {}, 'Values as a table'), table.root);
  return {
    root: h('figure', { class: 'chart' }, h('figcaption', {}, caption), picture, legend, numbers),
    update(data: Pick<TableData, 'heads' | 'rows'>, entries: readonly LegendEntry[] = []): void {
      table.update({ caption, ...data });
      legend.replaceChildren(...entries.map(({ swatch, name }) => h('li', {}, swatch, h('span', {}, name))));
    },
  };
}
