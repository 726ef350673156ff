import { formatMs } from '../../bench/format.js';
import { h } from '../dom.js';
import type { Chart, ChartOptions } from './chart.js';
import { Frame } from './frame.js';

export interface Setting {
  readonly label: string;
  readonly medianMs: number;
  readonly lowMs: number;
  readonly highMs: number;
  readonly note?: string;
  /** No measurement but what none can be faster than. */
  readonly bound?: boolean;
}

export interface SettingsData {
  readonly settings: readonly Setting[];
  /** Label of the one that is fastest by more than noise; null where none is. */
  readonly fastest: string | null;
}

/** The median time of each setting as a bar, and over it from the shortest to the longest. */
export function settingsChart({ caption, summary }: ChartOptions): Chart<SettingsData> {
  const bars = h('div', { class: 'chart-rows', role: 'img', 'aria-label': summary });
  const frame = new Frame(caption, bars);

  const update = (data: SettingsData): void => {
    const { settings } = data;
    const longest = Math.max(...settings.map(({ medianMs, highMs }) => Math.max(medianMs, highMs)));
    const isFastest = ({ label }: Setting): boolean => label === data.fastest;
    bars.replaceChildren(...settings.map((setting) => row(setting, isFastest(setting), longest)));
    frame.setNumbers(
      ['Setting', 'Median, ms', 'Shortest, ms', 'Longest, ms', 'Note'],
      settings.map((setting) => [
        setting.label,
        formatMs(setting.medianMs),
        formatMs(setting.lowMs),
        formatMs(setting.highMs),
        [isFastest(setting) ? 'fastest' : [], setting.note ?? []].flat().join(', '),
      ]),
    );
  };

  return { root: frame.root, update };
}

function row(setting: Setting, isFastest: boolean, longest: number): HTMLElement {
  const percent = (ms: number): string => `${longest > 0 ? (100 * ms) / longest : 0}%`;
  const bar = h('span', { class: 'chart-bar' });
  bar.style.setProperty('--from', percent(setting.lowMs));
  bar.style.setProperty('--middle', percent(setting.medianMs));
  bar.style.setProperty('--to', percent(setting.highMs));
  return h(
    'div',
    {
      class: [
        'chart-row',
        isFastest ? 'fastest' : '',
        setting.bound === true ? 'bound' : '',
        setting.lowMs === setting.highMs ? 'exact' : '',
      ]
        .join(' ')
        .trim(),
    },
    h(
      'span',
      { class: 'chart-row-name' },
      setting.label,
      setting.note === undefined ? null : h('small', {}, setting.note),
    ),
    bar,
    h(
      'span',
      { class: 'chart-number' },
      `${formatMs(setting.medianMs)} ms`,
      isFastest ? h('span', { class: 'badge' }, 'fastest') : null,
    ),
  );
}
