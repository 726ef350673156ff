import { formatMs } from '../bench/format.js';
import { type CaseRow, passed, type StampedRow } from '../bench/rows.js';
import { parseCaseAddress } from '../cases/address.js';
import { h, table } from './dom.js';

/** One line for each case and placement, and the count of those that passed. */
export class MsmCrossCheckView {
  readonly #rows = h('tbody');
  readonly #headline = h('p', { class: 'headline' });
  readonly root = h(
    'div',
    { hidden: true },
    this.#headline,
    table(
      'Every case against the oracles. Agrees: every run gives their answer; identical: every run gives the same bytes. Times include what compiles in the first run.',
      ['Points × scalars', 'Agrees', 'On curve', 'Identical', 'Median, ms'],
      this.#rows,
    ),
  );
  #passed = 0;
  #total = 0;

  onRow(row: StampedRow): void {
    if (row.event !== 'case') return;
    this.root.hidden = false;
    this.#total++;
    if (passed(row)) this.#passed++;
    this.#headline.replaceChildren(h('strong', {}, `${this.#passed} of ${this.#total}`), ' checks passed');
    this.#rows.append(...lines(row));
  }
}

const mark = (right: boolean): HTMLElement =>
  h('td', {}, h('span', { class: right ? 'right' : 'wrong' }, right ? '✓ yes' : '✗ no'));

function lines(row: CaseRow): HTMLElement[] {
  const { points, scalars, n, seed } = parseCaseAddress(row.case);
  const line = h(
    'tr',
    { class: passed(row) ? false : 'failed' },
    h(
      'th',
      { scope: 'row', class: 'case' },
      `${points} × ${scalars}`,
      h('small', {}, `n = ${n.toLocaleString('en')}, ${seed === 1 ? '' : `seed ${seed}, `}${row.placement} scratch`),
    ),
    mark(row.agrees),
    mark(row.onCurve),
    mark(row.identical),
    h('td', {}, formatMs(row.medianMs)),
  );
  if (row.error === null) return [line];
  return [line, h('tr', { class: 'failed' }, h('td', { class: 'error', colspan: 5 }, row.error))];
}
