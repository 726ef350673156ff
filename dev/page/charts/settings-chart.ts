import { formatMs } from '../../bench/format.js';
import type { Bar, ChartData, ChartOptions } from '../../bench/parts.js';
import { h } from '../dom.js';
import { type Chart, makeFrame } from './frame.js';

/**
 * Draws the median time of each setting as a bar, with its range from the shortest to the longest
 * time.
 */
export function settingsChart({ caption, summary }: ChartOptions): Chart<ChartData['settings']> {
  const bars = h('div', { class: 'chart-rows', role: 'img', 'aria-label': summary });
  const frame = makeFrame(caption, bars);

  const update = (data: ChartData['settings']): void => {
    const { settings } = data;
    const longest = Math.max(...settings.map(({ medianMs, highMs }) => Math.max(medianMs, highMs)));
    const isFastest = ({ label }: Bar): boolean => label === data.fastest;
    bars.replaceChildren(...settings.map((setting) => row(setting, isFastest(setting), longest)));
    frame.update({
      heads: ['Setting', 'Median, ms', 'Shortest, ms', 'Longest, ms'],
      rows: settings.map((setting) => [
        setting.label,
        formatMs(setting.medianMs),
        formatMs(setting.lowMs),
        formatMs(setting.highMs),
      ]),
    });
  };

  return { root: frame.root, update };
}

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
