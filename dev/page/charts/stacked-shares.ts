import { formatMs, formatPercent } from '../../bench/format.js';
import { h } from '../dom.js';
import type { Chart, ChartOptions } from './chart.js';
import { colourOf } from './colours.js';
import { Frame } from './frame.js';
import { Legend } from './legend.js';
import { blockSwatch, paint } from './marks.js';

export interface SharesData {
  readonly bars: readonly {
    readonly label: string;
    readonly parts: readonly { readonly name: string; readonly ms: number }[];
  }[];
}

/** What share of each bar's time its parts take. Each part is numbered, and named where its name fits. */
export function stackedShares({ caption, summary }: ChartOptions): Chart<SharesData> {
  const rows = h('div', { class: 'chart-rows', role: 'img', 'aria-label': summary });
  const legend = new Legend('Point at or touch a bar for its values');
  const frame = new Frame(caption, rows, legend.root);

  const update = (data: SharesData): void => {
    const names = [...new Set(data.bars.flatMap(({ parts }) => parts.map(({ name }) => name)))];
    const bars = data.bars.map(({ label, parts }) => {
      const times = names.map((name) => parts.reduce((sum, part) => (part.name === name ? sum + part.ms : sum), 0));
      const total = times.reduce((sum, ms) => sum + ms, 0);
      return {
        label,
        times,
        total,
        words: times.map((ms) => `${formatMs(ms)} ms, ${formatPercent(ms / (total || 1))}`),
      };
    });
    const row = ({ label, times, total, words }: (typeof bars)[number]): HTMLElement => {
      const head = `${label}: ${formatMs(total)} ms`;
      const show = (): void => legend.show({ head, values: words });
      const parts = times.map((ms, i) => {
        const name = names[i] ?? '';
        const text = h('span', {}, String(i + 1), h('span', { class: 'chart-part-name' }, ` ${name}`));
        const part = paint(h('span', { class: 'chart-part', title: `${name}: ${words[i]}` }, text), colourOf(name));
        part.style.flexGrow = String(ms);
        return part;
      });
      return h(
        'div',
        { class: 'chart-row', pointerenter: show, pointerdown: show },
        h('span', { class: 'chart-row-name' }, label),
        h('span', { class: 'chart-parts' }, ...parts),
        h('span', { class: 'chart-number' }, `${formatMs(total)} ms`),
      );
    };
    rows.replaceChildren(...bars.map(row));
    legend.set(names.map((name, i) => ({ name, swatch: blockSwatch(colourOf(name), String(i + 1)) })));
    frame.setNumbers(
      ['Pass', ...bars.map(({ label }) => label)],
      [
        ...names.map((name, part) => [name, ...bars.map(({ words }) => words[part] ?? '')]),
        ['all', ...bars.map(({ total }) => `${formatMs(total)} ms`)],
      ],
    );
  };

  return { root: frame.root, update };
}
