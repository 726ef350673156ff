import { formatMs } from '../bench/format.js';
import type { StampedRow, TrialRow } from '../bench/rows.js';
import { tuningQuery } from '../bench/settings.js';
import { h, table, tableRow } from './dom.js';
import type { ResultView } from './result-view.js';
import { tiles } from './tiles.js';

/** What calibrate tried, and what it would have the engine do. */
export class CalibrateView implements ResultView {
  readonly root = h('div', { class: 'sizes' });
  readonly #trials: TrialRow[] = [];

  onRow(row: StampedRow): void {
    if (row.event === 'trial') this.#trials.push(row);
    if (row.event !== 'calibrated') return;
    const chosen = row.query;
    const rows = this.#trials.map(({ tuning, ms }) => {
      const query = tuningQuery(tuning).toString();
      return tableRow(
        [
          query === '' ? 'defaults' : query.replaceAll('&', ', '),
          ms === null ? 'wrong, or impossible here' : formatMs(ms),
          query === chosen ? '✓ chosen' : '',
        ],
        ms === null ? 'failed' : '',
      );
    });
    const knobs = chosen === '' ? '' : `&${chosen}`;
    const against = [...new URLSearchParams(chosen)].map(([name, value]) => `&b.${name}=${value}`).join('');
    this.root.replaceChildren(
      tiles([
        {
          label: 'What suits this device',
          value: chosen === '' ? 'the defaults' : chosen.replaceAll('&', ', '),
          note: chosen === '' ? 'as good as anything that was tried' : 'faster than the defaults',
        },
        { label: 'Settings tried', value: String(rows.length) },
        {
          label: 'Took',
          value: `${(row.tookMs / 1000).toFixed(1)} s`,
          note: `${(row.compileMs / 1000).toFixed(1)} of them compiling`,
        },
      ]),
      table(
        'Settings tried on a small MSM, one knob after the other; the median of each',
        ['Setting', 'ms', 'Chosen'],
        rows,
      ),
      h(
        'p',
        {},
        ...(row.remembered
          ? ['This browser remembers it: ', h('code', {}, 'calibrate(device)'), ' gives it to a program at once. ']
          : ['This browser does not let the page remember it. ']),
        'See what it is worth: ',
        h('a', { href: `?autorun=msm-bench&logn=10,12,14${knobs}` }, 'the benchmark with it'),
        ...(against === ''
          ? ['.']
          : [', ', h('a', { href: `?autorun=accum-ab&logn=12${against}` }, 'the defaults against it'), '.']),
      ),
    );
  }
}
