import { h } from './dom.js';

/** A button that copies a text; where the browser does not let it, as on pages over plain http, the text is there to be copied by hand. */
export function copyButton(label: string, text: () => string): HTMLElement {
  const said = h('span', { class: 'note', role: 'status' });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      said.replaceChildren('Copied.');
    } catch {
      said.replaceChildren('This browser lets no page copy:', h('textarea', { readonly: true, rows: 6 }, text()));
    }
  };
  return h('span', { class: 'buttons' }, h('button', { type: 'button', click: () => void copy() }, label), said);
}
