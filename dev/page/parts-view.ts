/**
 * Draws the report of a run, and updates it as rows arrive. Charts, open details and scroll
 * positions of tables stay.
 */
import type { ChartData, ChartOptions, Part, Parts, Sentence, Tile } from '../bench/parts.js';
import { distributionChart, settingsChart, stackedShares, timeChart, timeline } from './charts/charts.js';
import type { Chart } from './charts/frame.js';
import { h, note, TableView, wordsOf } from './dom.js';

const charts: { readonly [Kind in keyof ChartData]: (options: ChartOptions) => Chart<ChartData[Kind]> } = {
  time: timeChart,
  settings: settingsChart,
  shares: stackedShares,
  distribution: distributionChart,
  timeline,
};

/** A view of parts of one kind. */
interface View {
  readonly root: HTMLElement;
  update(part: Part): void;
}

export class PartsView {
  readonly root: HTMLElement;
  #views: ReadonlyMap<string, View> = new Map();

  /** @param root element that holds the parts */
  constructor(root: HTMLElement) {
    this.root = root;
  }

  update(parts: Parts): void {
    const views = new Map<string, View>();
    for (const [i, part] of parts.entries()) {
      if (part === null) continue;
      const key = `${i} ${part.kind} ${'caption' in part ? part.caption : ''}`;
      const view = this.#views.get(key) ?? makeView(part);
      view.update(part);
      views.set(key, view);
    }
    this.#views = views;
    const roots = [...views.values()].map(({ root }) => root);
    // unchanged elements are not moved, so they keep their focus
    const { children } = this.root;
    if (children.length !== roots.length || roots.some((root, i) => root !== children[i]))
      this.root.replaceChildren(...roots);
  }
}

function makeView(part: Part): View {
  switch (part.kind) {
    case 'tiles':
      return filled(h('dl', { class: 'tiles' }), ({ tiles }: typeof part) => tiles.map(tileOf));
    case 'headline':
      return filled(h('p', { class: 'headline' }), ({ text }: typeof part) => [document.createTextNode(text)]);
    case 'notes':
      return filled(h('div', { class: 'prose' }), ({ lines }: typeof part) => lines.map(sentenceOf));
    case 'table':
      return new TableView() as View;
    case 'section':
      return nested(h('article', { class: 'size' }, h('h3', {}, part.caption)));
    case 'folded':
      return nested(h('details', {}, h('summary', {}, part.caption)));
    default: {
      const chart = charts[part.kind](part) as Chart<unknown>;
      return { root: chart.root, update: (other) => chart.update((other as typeof part).data) };
    }
  }
}

/**
 * Creates a view whose content is replaced with each part, all of which have the kind of the first.
 */
const filled = <Kind extends Part>(root: HTMLElement, contents: (part: Kind) => readonly Node[]): View => ({
  root,
  update: (part) => root.replaceChildren(...contents(part as Kind)),
});

function nested(root: HTMLElement): View {
  const view = new PartsView(h('div', { class: 'size' }));
  root.append(view.root);
  return { root, update: (part) => view.update((part as Extract<Part, { parts: Parts }>).parts) };
}

const tileOf = ([label, value, about = '']: Tile): HTMLElement =>
  // a long note gets a whole line
  h(
    'div',
    { class: about.length > 100 && 'wide' },
    h('dt', {}, label),
    h('dd', {}, wordsOf(value)),
    about === '' ? null : h('dd', { class: 'note' }, about),
  );

const sentenceOf = (sentence: Sentence): HTMLElement =>
  note(
    ...[sentence]
      .flat()
      .map((part) => (typeof part === 'string' ? part : h('a', { href: `?${part.query}` }, part.text))),
  );
