/** Where the time of an MSM goes, in words and numbers. */
import type { PhaseTime } from '../../src/api.js';
import { formatMs, formatPercent } from '../bench/format.js';
import type { Timed } from '../bench/summary.js';
import { h, note, table } from './dom.js';

const lines = (what: string, title: string, parts: readonly PhaseTime[]): HTMLElement => {
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  const share = (ms: number): string => (total === 0 ? '–' : formatPercent(ms / total));
  const rows = parts.map(({ name, ms }) => [name, formatMs(ms), share(ms)]);
  return table(title, [what, 'ms', 'Share'], rows);
};

/** Of the repetition in the middle each pass, and what the host's clock saw: encode, submit to result, read-back. */
export function passTables({ phases, walls }: Pick<Timed, 'phases' | 'walls'>): HTMLElement {
  const onGpu =
    phases === null
      ? note('No per-pass times: this adapter has no timestamps.')
      : lines('Pass', 'Passes of the repetition in the middle', phases);
  if (walls === null) return onGpu;
  const host = [
    { name: 'encode', ms: walls.encodeMs },
    { name: 'submit to result', ms: walls.submitToResultMs },
    { name: 'read back, fold', ms: walls.readBackMs },
  ];
  return h('div', { class: 'columns' }, onGpu, lines('Part', 'The same by the host’s clock', host));
}
