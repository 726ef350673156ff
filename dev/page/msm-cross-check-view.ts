import { formatMs } from '../bench/format.js';
import { type CaseRow, passed, type StampedRow } from '../bench/rows.js';
import { parseCaseAddress } from '../cases/address.js';
import { h, table, tableRow, verdict } from './dom.js';
import { tiles } from './tiles.js';

/** One line for each case and placement, and the count of those that passed. */
export class MsmCrossCheckView {
  readonly #summary = h('div');
  readonly #table = table(
    'Every case against the oracles. Agrees: every run gives their answer; identical: every run gives the same bytes. Times include what compiles in the first run.',
    ['Points × scalars', 'Agrees', 'On curve', 'Identical', 'Median, ms'],
    [],
  );
  readonly root = h('div', { class: 'sizes', hidden: true }, this.#summary, this.#table);
  #passed = 0;
  #total = 0;

  onRow(row: StampedRow): void {
    if (row.event !== 'case') return;
    this.root.hidden = false;
    this.#total++;
    if (passed(row)) this.#passed++;
    const failed = this.#total - this.#passed;
    this.#summary.replaceChildren(
      tiles([
        { label: 'Checks passed', value: `${this.#passed} of ${this.#total}` },
        failed === 0 ? null : { label: 'Failed', value: verdict(false, String(failed)), note: 'in red below' },
      ]),
    );
    this.#table.querySelector('tbody')?.append(...lines(row));
  }
}

const mark = (right: boolean): HTMLElement => verdict(right, right ? 'yes' : 'no');

function lines(row: CaseRow): HTMLElement[] {
  const { points, scalars, n, seed } = parseCaseAddress(row.case);
  const about = `n = ${n.toLocaleString('en')}, ${seed === 1 ? '' : `seed ${seed}, `}${row.placement} scratch`;
  const head = h('th', { scope: 'row', class: 'case' }, `${points} × ${scalars}`, h('small', {}, about));
  const cells = [head, mark(row.agrees), mark(row.onCurve), mark(row.identical), formatMs(row.medianMs)];
  if (passed(row)) return [tableRow(cells)];
  const why = row.error === null ? [] : [tableRow([h('td', { class: 'error', colspan: 5 }, row.error)], 'failed')];
  return [tableRow(cells, 'failed'), ...why];
}
