import { type ChartData, type Shares, sharesTable } from '../../bench/parts.js';
import { h } from '../dom.js';
import { colourOf } from './colours.js';
import { chartOf } from './frame.js';
import { blockSwatch } from './marks.js';

/**
 * Draws the share of each part in a bar's time. Each part is numbered, and named if its name fits.
 */
export const stackedShares = chartOf(({ bars }: ChartData['shares']) => {
  const table = sharesTable('', 'Pass', bars);
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
  return {
    paint: (_, image) =>
      h('div', { class: 'chart-rows', ...image }, ...bars.map((bar, i) => row(bar, columns[i] ?? []))),
    legend: names.map((name, i) => ({ name, swatch: blockSwatch(colourOf(name), String(i + 1)) })),
    numbers: { heads: table.heads, rows: table.rows },
  };
});
