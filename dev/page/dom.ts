type Child = Node | string | null;

/** An element with attributes (or, with a function, a listener) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number | boolean | EventListener>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A table that scrolls by itself where the screen is narrow; its caption stays. */
export function table(caption: string, heads: readonly (string | Node)[], body: HTMLElement): HTMLElement {
  return h(
    'div',
    { class: 'table' },
    h('p', { class: 'caption', 'aria-hidden': 'true' }, caption),
    h(
      'div',
      { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': caption },
      h(
        'table',
        { 'aria-label': caption },
        h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
        body,
      ),
    ),
  );
}
