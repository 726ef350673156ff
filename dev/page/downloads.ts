/** The run as files: made in the page, so that a static site has them as well. */
import { hasTrace, toChromeTrace, toCsv, toJson } from '../bench/export.js';
import type { MsmBench } from '../bench/run.js';
import { h } from './dom.js';

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  // the browser has taken it by the next turn
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

const button = (label: string, name: string, type: string, text: () => string): HTMLElement =>
  h('button', { type: 'button', click: () => save(name, type, text()) }, label);

export function downloads({ runId, rows }: Readonly<MsmBench>): HTMLElement {
  const name = `webgpu-msm-${runId}`;
  return h(
    'div',
    { class: 'buttons' },
    button('Download JSON', `${name}.json`, 'application/json', () => toJson(rows)),
    button('Download CSV', `${name}.csv`, 'text/csv', () => toCsv(rows)),
    hasTrace(rows)
      ? button('Download trace', `${name}.trace.json`, 'application/json', () => toChromeTrace(rows))
      : null,
    hasTrace(rows)
      ? h('small', {}, 'The trace opens in ', h('a', { href: 'https://ui.perfetto.dev' }, 'ui.perfetto.dev'), '.')
      : null,
  );
}
