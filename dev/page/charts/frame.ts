import { h, table } from '../dom.js';
import './charts.css';

/** What is around every picture: its caption, and under it its numbers as a table. */
export class Frame {
  readonly root: HTMLElement;
  readonly #numbers = h('details', { class: 'chart-numbers' }, h('summary', {}, 'Numbers'));
  #table: HTMLElement | null = null;

  constructor(caption: string, ...picture: HTMLElement[]) {
    this.root = h('figure', { class: 'chart' }, h('figcaption', {}, caption), ...picture, this.#numbers);
  }

  /** The first cell of each row is its head. */
  setNumbers(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): void {
    const body = h(
      'tbody',
      {},
      ...rows.map(([head = '', ...cells]) =>
        h('tr', {}, h('th', { scope: 'row' }, head), ...cells.map((cell) => h('td', {}, cell))),
      ),
    );
    const fresh = table(caption, heads, body);
    // What scrolls stays, so that new numbers move neither the focus nor the place in the table.
    if (this.#table === null) {
      this.#table = fresh;
      this.#numbers.append(fresh);
    } else {
      this.#table.replaceChildren(...fresh.childNodes);
    }
  }
}
