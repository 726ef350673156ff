import { h } from '../dom.js';

export interface LegendEntry {
  readonly swatch: Element;
  readonly name: string;
}

/** The values at the place that is pointed at. */
export interface Readout {
  readonly head: string;
  /** One of each entry. */
  readonly values: readonly string[];
}

export class Legend {
  readonly root: HTMLElement;
  readonly #head = h('p', { class: 'note steady' });
  readonly #list = h('ul', { class: 'chart-entries' });
  readonly #hint: string;
  #values: HTMLElement[] = [];

  constructor(hint: string) {
    this.#hint = hint;
    this.root = h('div', { class: 'chart-legend' }, this.#head, this.#list);
  }

  set(entries: readonly LegendEntry[]): void {
    this.#values = entries.map(() => h('span', { class: 'chart-value' }));
    this.#list.replaceChildren(
      ...entries.map(({ swatch, name }, i) =>
        h('li', {}, swatch, h('span', { class: 'chart-name' }, name), this.#values[i] ?? null),
      ),
    );
    this.show(null);
  }

  show(readout: Readout | null): void {
    this.#head.textContent = readout?.head ?? this.#hint;
    this.#values.forEach((value, i) => {
      value.textContent = readout?.values[i] ?? '';
    });
  }
}
