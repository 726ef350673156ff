import { formatMs } from '../../bench/format.js';
import type { Bar, ChartData } from '../../bench/parts.js';
import { h } from '../dom.js';
import { chartOf } from './frame.js';

/**
 * Draws the median time of each setting as a bar, with its range from the shortest to the longest
 * time.
 */
export const settingsChart = chartOf(({ settings, fastest }: ChartData['settings']) => {
  const longest = Math.max(...settings.map(({ medianMs, highMs }) => Math.max(medianMs, highMs)));
  const rows = settings.map((setting) => [setting.label, setting.medianMs, setting.lowMs, setting.highMs] as const);
  return {
    paint: (_, image) =>
      h(
        'div',
        { class: 'chart-rows', ...image },
        ...settings.map((setting) => row(setting, setting.label === fastest, longest)),
      ),
    numbers: {
      heads: ['Setting', 'Median, ms', 'Shortest, ms', 'Longest, ms'],
      rows: rows.map(([label, ...times]) => [label, ...times.map(formatMs)]),
    },
  };
});

function row({ label, medianMs, lowMs, highMs, bound }: Bar, isFastest: boolean, longest: number): HTMLElement {
  const bar = h('span', { class: 'chart-bar' });
  for (const [name, ms] of Object.entries({ from: lowMs, middle: medianMs, to: highMs }))
    bar.style.setProperty(`--${name}`, `${longest > 0 ? (100 * ms) / longest : 0}%`);
  const line = h(
    'div',
    { class: 'chart-row' },
    h('span', { class: 'chart-row-name' }, label),
    bar,
    h(
      'span',
      { class: 'chart-number' },
      `${formatMs(medianMs)} ms`,
      isFastest ? h('span', { class: 'badge' }, 'fastest') : null,
    ),
  );
  for (const [name, is] of Object.entries({ fastest: isFastest, bound: bound === true }))
    line.classList.toggle(name, is);
  return line;
}
