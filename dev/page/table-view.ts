import { type Cell, type Line, lineOf, type TableData } from '../bench/parts.js';
import { h } from './dom.js';

/** Returns the text of a cell, with marks so that colour is not the only sign. */
export function wordsOf(cell: Cell): Node | string {
  if (typeof cell === 'string') return cell;
  const { text, as } = cell;
  if (as === undefined) return text;
  return as === 'strong' ? h('strong', {}, text) : h('span', { class: as }, `${as === 'right' ? '✓' : '✗'} ${text}`);
}

/** Returns the content of a cell with its small print below. */
const contentOf = (cell: Cell): Node[] => [
  h('span', {}, wordsOf(cell)),
  ...(typeof cell === 'string' || cell.small === undefined ? [] : [h('small', {}, cell.small)]),
];

/** Returns the elements of a row, whose first cell is its head. */
function rowsOf({ cells: [head = '', ...cells], is, below }: Line, heads: readonly string[]): HTMLElement[] {
  const small = typeof head === 'string' ? undefined : head.small;
  const about = small === undefined ? null : h('small', {}, small);
  const th = h('th', { scope: 'row', class: about !== null && 'case' }, wordsOf(head), about);
  const line = h(
    'tr',
    { class: is ?? false },
    th,
    ...cells.map((cell, i) => h('td', { 'data-head': heads[i + 1] ?? '' }, ...contentOf(cell))),
  );
  const why = h('td', { class: 'error', colspan: cells.length + 1 }, below ?? '');
  return below ? [line, h('tr', { class: is ?? false }, why)] : [line];
}

/**
 * A table that scrolls on narrow screens while its caption stays. An update keeps the scroll
 * position.
 */
export class TableView {
  readonly #caption = h('p', { class: 'note', 'aria-hidden': 'true' });
  readonly #table = h('table');
  readonly #scroll = h('div', { class: 'scroll', role: 'region', tabindex: 0 }, this.#table);
  readonly root = h('div', { class: 'table' }, this.#caption, this.#scroll);

  update({ caption, heads, rows, fits = false }: TableData): void {
    this.root.classList.toggle('fits', fits);
    this.#caption.textContent = caption;
    for (const element of [this.#scroll, this.#table]) element.ariaLabel = caption;
    this.#table.replaceChildren(
      h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, ...rows.flatMap((row) => rowsOf(lineOf(row), heads))),
    );
  }
}

export function table(caption: string, heads: readonly string[], rows: TableData['rows']): HTMLElement {
  const view = new TableView();
  view.update({ caption, heads, rows });
  return view.root;
}
