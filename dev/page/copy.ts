import { h } from './dom.js';

/** Whether the text is in the clipboard. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // pages that came over plain http, and browsers that ask for more than a press of a button
    const area = h('textarea', { class: 'visually-hidden' }, text);
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

/** A button that copies a text; where the browser does not let it, the text is there to be copied by hand. */
export function copyButton(label: string, text: () => string): HTMLElement {
  const said = h('span', { class: 'note', role: 'status' });
  const copy = async (): Promise<void> => {
    if (await toClipboard(text())) said.replaceChildren('Copied.');
    else said.replaceChildren('This browser lets no page copy:', h('textarea', { readonly: true, rows: 6 }, text()));
  };
  return h('span', { class: 'copy' }, h('button', { type: 'button', click: () => void copy() }, label), said);
}
