import { type ChartData, type ChartOptions, type Shares, sharesTable } from '../../bench/parts.js';
import { h } from '../dom.js';
import { colourOf } from './colours.js';
import { type Chart, makeFrame } from './frame.js';
import { blockSwatch } from './marks.js';

/**
 * Draws the share of each part in a bar's time. Each part is numbered, and named if its name fits.
 */
export function stackedShares({ caption, summary }: ChartOptions): Chart<ChartData['shares']> {
  const rows = h('div', { class: 'chart-rows', role: 'img', 'aria-label': summary });
  const frame = makeFrame(caption, rows);

  const update = ({ bars }: ChartData['shares']): void => {
    const table = sharesTable(caption, 'Pass', bars);
    const [all = [], ...columns] = table.heads.map((_, i) => table.rows.map((line) => line[i] ?? ''));
    const names = all.slice(0, -1);
    const row = ({ label, parts }: Shares, column: readonly string[]): HTMLElement => {
      const blocks = names.map((name, i) => {
        const text = h('span', {}, String(i + 1), h('span', { class: 'chart-part-name' }, ` ${name}`));
        const share = parts.reduce((sum, each) => (each.name === name ? sum + each.ms : sum), 0);
        const style = `background-color: ${colourOf(name)}; flex-grow: ${share}`;
        return h('span', { class: 'chart-part', style, title: `${name}: ${column[i]}` }, text);
      });
      return h(
        'div',
        { class: 'chart-row' },
        h('span', { class: 'chart-row-name' }, label),
        h('span', { class: 'chart-parts' }, ...blocks),
        h('span', { class: 'chart-number' }, column.at(-1) ?? ''),
      );
    };
    rows.replaceChildren(...bars.map((bar, i) => row(bar, columns[i] ?? [])));
    const legend = names.map((name, i) => ({ name, swatch: blockSwatch(colourOf(name), String(i + 1)) }));
    frame.update(table, legend);
  };

  return { root: frame.root, update };
}
