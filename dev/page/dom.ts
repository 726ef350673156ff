import { type Cell, type Line, lineOf, type TableData } from '../bench/parts.js';

type Child = Node | string | null;
type Attributes = Readonly<Record<string, string | number | boolean | EventListener>>;

function dress(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
}

/**
 * Creates an HTML element with attributes, listeners (attributes that are functions) and children.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, attributes, children);
  return element;
}

/** Creates an SVG element in the same way. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  dress(element, attributes, children);
  return element;
}

/** Creates a paragraph in small print. */
export const note = (...children: readonly Child[]): HTMLElement => h('p', { class: 'note' }, ...children);

/**
 * Makes a button that copies a text. If the browser forbids copying, as over plain http, it shows
 * the text instead.
 */
export function copyButton(label: string, text: () => string): HTMLElement {
  const status = h('span', { class: 'note', role: 'status' });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      status.replaceChildren('Copied.');
    } catch {
      status.replaceChildren(
        'This browser blocks copying. Copy the text by hand:',
        h('textarea', { readonly: true, rows: 6 }, text()),
      );
    }
  };
  return h('span', { class: 'buttons' }, h('button', { type: 'button', click: () => void copy() }, label), status);
}

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
function rowsOf({ cells: [head = '', ...cells], is, below }: Line): HTMLElement[] {
  const small = typeof head === 'string' ? undefined : head.small;
  const about = small === undefined ? null : h('small', {}, small);
  const th = h('th', { scope: 'row', class: about !== null && 'case' }, wordsOf(head), about);
  const line = h('tr', { class: is ?? false }, th, ...cells.map((cell) => h('td', {}, ...contentOf(cell))));
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

  update({ caption, heads, rows }: TableData): void {
    this.#caption.textContent = caption;
    for (const element of [this.#scroll, this.#table]) element.ariaLabel = caption;
    this.#table.replaceChildren(
      h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, ...rows.flatMap((row) => rowsOf(lineOf(row)))),
    );
  }
}

export function table(caption: string, heads: readonly string[], rows: TableData['rows']): HTMLElement {
  const view = new TableView();
  view.update({ caption, heads, rows });
  return view.root;
}
