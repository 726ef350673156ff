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

/** An element with attributes (or, with a function, a listener) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, attributes, children);
  return element;
}

/** The same of SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  dress(element, attributes, children);
  return element;
}

/** What is worth knowing, in small print. */
export const note = (...children: readonly Child[]): HTMLElement => h('p', { class: 'note' }, ...children);

/** Not by colour alone. */
export const verdict = (right: boolean, word = right ? 'right' : 'wrong'): HTMLElement =>
  h('span', { class: right ? 'right' : 'wrong' }, `${right ? '✓' : '✗'} ${word}`);

/** A line of a table, whose first cell is its head; null is no cell, and what is a cell already stays one. */
export const tableRow = (cells: readonly Child[], kind = ''): HTMLTableRowElement =>
  h(
    'tr',
    { class: kind === '' ? false : kind },
    ...cells.map((cell, i) => {
      if (cell === null || cell instanceof HTMLTableCellElement) return cell;
      return i === 0 ? h('th', { scope: 'row' }, cell) : h('td', {}, cell);
    }),
  );

/** A table that scrolls by itself where the screen is narrow; its caption stays. */
export function table(
  caption: string,
  heads: readonly (string | Node)[],
  rows: readonly (readonly Child[] | HTMLTableRowElement)[],
): HTMLElement {
  return h(
    'div',
    { class: 'table' },
    h('p', { class: 'note', 'aria-hidden': 'true' }, caption),
    h(
      'div',
      { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': caption },
      h(
        'table',
        { 'aria-label': caption },
        h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
        h('tbody', {}, ...rows.map((row) => (row instanceof HTMLElement ? row : tableRow(row)))),
      ),
    ),
  );
}
