/** Downloads of a run. The page makes the files, so that a static site offers them as well. */
import { hasTrace, toChromeTrace, toCsv, toJson } from '../bench/export.js';
import { placeOf } from '../bench/format.js';
import { modeOf } from '../bench/modes.js';
import { rowsOf } from '../bench/rows.js';
import type { MsmBench } from '../bench/run.js';
import { copyButton } from './copy.js';
import { h } from './dom.js';
import { markdownOf } from './markdown.js';

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  // the browser has started the download by the next task
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** @param results element that shows the report of the rows */
export function downloads({ runId, rows }: Readonly<MsmBench>, results: HTMLElement): HTMLElement {
  const [init] = rowsOf(rows, 'init');
  const link = new URL(`?${init?.query ?? ''}`, document.baseURI).href;
  const markdown = (): string => {
    const told = init as NonNullable<typeof init>;
    const { version, commit } = told.environment;
    const environment = `${placeOf(told)}; webgpu-msm ${version}${commit === null ? '' : `, ${commit}`}`;
    return `### ${modeOf(told.mode).title}\n\n${environment}\n<${link}>\n\n${markdownOf(results)}\n`;
  };
  const button = (label: string, end: string, type: string, text: () => string): HTMLElement =>
    h('button', { type: 'button', click: () => save(`webgpu-msm-${runId}${end}`, type, text()) }, label);
  return h(
    'div',
    { class: 'buttons' },
    copyButton('Copy the link', () => link),
    init === undefined ? null : copyButton('Copy as Markdown', markdown),
    button('Download JSON', '.json', 'application/json', () => toJson(rows)),
    button('Download CSV', '.csv', 'text/csv', () => toCsv(rows)),
    ...(hasTrace(rows)
      ? [
          button('Download trace', '.trace.json', 'application/json', () => toChromeTrace(rows)),
          h('small', {}, 'The trace opens in ', h('a', { href: 'https://ui.perfetto.dev' }, 'ui.perfetto.dev'), '.'),
        ]
      : []),
  );
}
