import type { PhaseTime } from '../../src/api.js';
import { parseCaseAddress } from '../cases/address.js';
import { h, table } from './dom.js';
import { formatMs, formatSize } from './format.js';
import type { RepetitionRow, StampedRow, WarmUpRow } from './rows.js';
import { median } from './statistics.js';

/** The repetitions of each size as they come, their median, and where the time went. */
export class MsmBenchView {
  readonly root = h('div', { class: 'sizes' });
  #size: SizeView | null = null;

  onRow(row: StampedRow): void {
    if (row.event === 'warm-up') {
      this.#size = new SizeView(row);
      this.root.append(this.#size.root);
    } else if (row.event === 'repetition') {
      this.#size?.add(row);
    }
  }
}

class SizeView {
  readonly root: HTMLElement;
  readonly #n: number;
  readonly #repetitions: RepetitionRow[] = [];
  readonly #headline = h('p', { class: 'headline' });
  readonly #rows = h('tbody');
  readonly #middle = h('tbody', { class: 'middle' });
  readonly #passes = h('div');

  constructor(warmUp: WarmUpRow) {
    const { n, points, scalars } = parseCaseAddress(warmUp.case);
    this.#n = n;
    this.#rows.append(
      h(
        'tr',
        { class: 'aside' },
        h('th', { scope: 'row' }, 'first'),
        h('td', {}, formatMs(warmUp.wallMs)),
        h('td', {}, '–'),
        h('td', {}, verdict(warmUp.agrees)),
      ),
    );
    const repetitions = table(
      `Repetitions, ${formatSize(n)} points`,
      ['Run', 'Wall, ms', 'GPU, ms', 'Answer'],
      this.#rows,
    );
    this.#rows.after(this.#middle);
    this.root = h(
      'article',
      { class: 'size' },
      h('h3', {}, `${formatSize(n)} points`),
      h(
        'p',
        { class: 'about' },
        `points: ${points}, scalars: ${scalars}; the points took ${formatMs(warmUp.loadMs)} ms to load and check`,
      ),
      this.#headline,
      h('div', { class: 'columns' }, repetitions, this.#passes),
    );
  }

  add(row: RepetitionRow): void {
    this.#repetitions.push(row);
    this.#rows.append(
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, String(row.repetition)),
        h('td', {}, formatMs(row.wallMs)),
        h('td', {}, formatMs(row.gpuMs)),
        h('td', {}, verdict(row.agrees)),
      ),
    );
    const wall = median(this.#repetitions.flatMap(({ wallMs }) => wallMs ?? []));
    const gpu = median(this.#repetitions.flatMap(({ gpuMs }) => gpuMs ?? []));
    if (wall === null) return;
    const equivalents = median(this.#repetitions.flatMap(({ productEquivalents }) => productEquivalents ?? [])) ?? 0;
    const cost = (equivalents / 1e6).toPrecision(3);
    this.#middle.replaceChildren(
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, 'median'),
        h('td', {}, formatMs(wall)),
        h('td', {}, formatMs(gpu)),
        h('td'),
      ),
    );
    this.#headline.replaceChildren(
      h('strong', {}, `${formatMs(wall)} ms`),
      ` median wall time, ${Math.round((1000 * this.#n) / wall).toLocaleString('en')} points a second, ${row.placement} scratch; it costs as much as ${cost} million plain field products`,
    );
    this.#passes.replaceChildren(
      passTable(this.#repetitions.flatMap(({ phases }) => (phases === null ? [] : [phases]))),
    );
  }
}

const verdict = (agrees: boolean): HTMLElement =>
  h('span', { class: agrees ? 'right' : 'wrong' }, agrees ? '✓ right' : '✗ wrong');

/** Median time of each pass over the repetitions, with its share. */
function passTable(runs: readonly (readonly PhaseTime[])[]): HTMLElement {
  const names = runs[0]?.map(({ name }) => name) ?? [];
  if (names.length === 0) {
    return h(
      'p',
      { class: 'note' },
      'No per-pass times: this adapter has no timestamps. The wall time is what counts.',
    );
  }
  const passes = names.map((name) => ({
    name,
    ms: median(runs.flatMap((phases) => phases.filter((phase) => phase.name === name).map(({ ms }) => ms))) ?? 0,
  }));
  const total = passes.reduce((sum, { ms }) => sum + ms, 0);
  const most = Math.max(...passes.map(({ ms }) => ms));
  const body = h('tbody');
  for (const { name, ms } of passes) {
    const share = total === 0 ? 0 : ms / total;
    const bar = h('div', { class: 'share' });
    bar.style.setProperty('--length', `${most === 0 ? 0 : (100 * ms) / most}%`);
    body.append(
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, name),
        h('td', {}, formatMs(ms)),
        h('td', {}, `${(100 * share).toFixed(0)} %`),
        h('td', { class: 'bar', 'aria-hidden': 'true' }, bar),
      ),
    );
  }
  return table(
    'Where the time goes, median of the runs',
    ['Pass', 'ms', 'Share', h('span', { class: 'visually-hidden' }, 'Bar')],
    body,
  );
}
