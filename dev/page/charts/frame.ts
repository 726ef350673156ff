import { h, table } from '../dom.js';
import './charts.css';

/** What is around every picture: its caption, and under it its numbers as a table. */
export class Frame {
  readonly root: HTMLElement;
  readonly #caption: string;
  readonly #numbers = h('details', { class: 'chart-numbers' }, h('summary', {}, 'Numbers'));

  constructor(caption: string, ...picture: HTMLElement[]) {
    this.#caption = caption;
    this.root = h('figure', { class: 'chart' }, h('figcaption', {}, caption), ...picture, this.#numbers);
  }

  setNumbers(heads: readonly string[], rows: readonly (readonly string[])[]): void {
    const fresh = table(this.#caption, heads, rows);
    // What scrolls stays, so that new numbers move neither the focus nor the place in the table.
    const there = this.#numbers.querySelector('.table');
    if (there === null) this.#numbers.append(fresh);
    else there.replaceChildren(...fresh.childNodes);
  }
}
