/** Where the time of an MSM goes, in words and numbers. */
import type { PhaseTime } from '../../src/api.js';
import { formatMs, formatPercent } from '../bench/format.js';
import type { Timed } from '../bench/summary.js';
import { h, note, table } from './dom.js';

const lines = (parts: readonly PhaseTime[]) => {
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  const most = Math.max(...parts.map(({ ms }) => ms));
  return parts.map(({ name, ms }) => {
    const bar = h('div', { class: 'share' });
    bar.style.setProperty('--length', `${most === 0 ? 0 : (100 * ms) / most}%`);
    const share = total === 0 ? '–' : formatPercent(ms / total);
    return [name, formatMs(ms), share, h('td', { class: 'bar', 'aria-hidden': 'true' }, bar)];
  });
};

const heads = (what: string): (string | Node)[] => [
  what,
  'ms',
  'Share',
  h('span', { class: 'visually-hidden' }, 'Bar'),
];

/** Of the repetition in the middle each pass, and what the host's clock saw: encode, submit to result, read-back. */
export function passTables({ phases, walls }: Pick<Timed, 'phases' | 'walls'>): HTMLElement {
  const onGpu =
    phases === null
      ? note('No per-pass times: this adapter has no timestamps.')
      : table('Passes of the repetition in the middle', heads('Pass'), lines(phases));
  if (walls === null) return onGpu;
  const host = [
    { name: 'encode', ms: walls.encodeMs },
    { name: 'submit to result', ms: walls.submitToResultMs },
    { name: 'read back, fold', ms: walls.readBackMs },
  ];
  return h('div', { class: 'columns' }, onGpu, table('The same by the host’s clock', heads('Part'), lines(host)));
}
