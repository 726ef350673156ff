import { type Cell, type Line, lineOf, type TableData } from '../bench/parts.js';
import { h } from './dom.js';

/** Not by colour alone. */
export function wordsOf(cell: Cell): Node | string {
  if (typeof cell === 'string') return cell;
  const { text, as } = cell;
  if (as === undefined) return text;
  return as === 'strong' ? h('strong', {}, text) : h('span', { class: as }, `${as === 'right' ? '✓' : '✗'} ${text}`);
}

/** The first cell of a line is its head. */
function rowsOf({ cells: [head = '', ...cells], is, below }: Line): HTMLElement[] {
  const small = typeof head === 'string' ? undefined : head.small;
  const about = small === undefined ? null : h('small', {}, small);
  const th = h('th', { scope: 'row', class: about !== null && 'case' }, wordsOf(head), about);
  const line = h('tr', { class: is ?? false }, th, ...cells.map((cell) => h('td', {}, wordsOf(cell))));
  const why = h('td', { class: 'error', colspan: cells.length + 1 }, below ?? '');
  return below ? [line, h('tr', { class: is ?? false }, why)] : [line];
}

/** A table that scrolls by itself where the screen is narrow; its caption stays. So does the place in it when it gets other numbers. */
export class TableView {
  readonly #caption = h('p', { class: 'note', 'aria-hidden': 'true' });
  readonly #table = h('table');
  readonly #scroll = h('div', { class: 'scroll', role: 'region', tabindex: 0 }, this.#table);
  readonly root = h('div', { class: 'table' }, this.#caption, this.#scroll);

  update({ caption, heads, rows }: TableData): void {
    this.#caption.textContent = caption;
    for (const element of [this.#scroll, this.#table]) element.ariaLabel = caption;
    this.#table.replaceChildren(
      h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, ...rows.flatMap((row) => rowsOf(lineOf(row)))),
    );
  }
}

/** One that stays as it is. */
export function table(caption: string, heads: readonly string[], rows: TableData['rows']): HTMLElement {
  const view = new TableView();
  view.update({ caption, heads, rows });
  return view.root;
}
