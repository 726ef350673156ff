import { h } from './dom.js';

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
