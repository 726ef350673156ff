import { formatMs, shortSize } from '../bench/format.js';
import type { ComparisonRow, StampedRow } from '../bench/rows.js';
import { summarise, type Timed } from '../bench/summary.js';
import { comparisonWords } from '../bench/words.js';
import { distributionChart, stackedShares } from './charts/index.js';
import { h, table } from './dom.js';
import type { ResultView } from './result-view.js';
import { verdict } from './verdict.js';

/** The verdict on A and B for each case, and the times that it rests on. */
export class AbView implements ResultView {
  readonly root = h('div', { class: 'sizes' });
  readonly #rows: StampedRow[] = [];
  readonly #sections = new Map<string, AbSection>();
  #names: readonly [string, string] = ['A', 'B'];

  onRow(row: StampedRow): void {
    this.#rows.push(row);
    if (row.event === 'init') this.#names = [row.settings[0] ?? 'A', row.settings[1] ?? 'B'];
    // a pair is told as two rows
    if (row.event !== 'comparison' && !(row.event === 'repetition' && (row.setting === 'B' || !row.agrees))) return;
    let section = this.#sections.get(row.case);
    if (section === undefined) {
      section = new AbSection();
      this.#sections.set(row.case, section);
      this.root.append(section.root);
    }
    const own = this.#rows.filter((each) => each.event === 'repetition' && each.case === row.case);
    section.show(summarise(own), this.#names, row.event === 'comparison' ? row : null);
  }
}

class AbSection {
  readonly #title = h('h3');
  readonly #headline = h('p', { class: 'headline' });
  readonly #table = h('div');
  readonly #chart = distributionChart({
    data: { series: [] },
    caption: 'How the times are distributed',
    summary: 'Share of the runs that took at most so long, for A and for B.',
  });
  readonly #shares = stackedShares({
    data: { bars: [] },
    caption: 'Where the time goes',
    summary: 'Share of each pass, for A and for B.',
  });
  readonly root = h(
    'article',
    { class: 'size' },
    this.#title,
    this.#headline,
    this.#table,
    this.#chart.root,
    this.#shares.root,
  );

  show(timed: readonly Timed[], [a, b]: readonly [string, string], comparison: ComparisonRow | null): void {
    const names: Readonly<Record<string, string>> = { A: a, B: b };
    const sides = [...timed].sort((x, y) => x.setting.localeCompare(y.setting));
    const [first] = sides;
    if (first === undefined) return;
    const wrong = sides.filter((side) => side.wrong);
    for (const part of [this.#table, this.#chart.root, this.#shares.root]) part.hidden = wrong.length > 0;
    if (wrong.length > 0) {
      this.#headline.replaceChildren(
        verdict(false),
        `: ${wrong.map(({ setting }) => setting).join(', ')}; no time counts`,
      );
      return;
    }
    this.#title.textContent = first.n === 1 ? '1 point' : `${shortSize(first.n)} points`;
    if (comparison === null) {
      this.#headline.textContent = `${first.repetitions} pairs so far; the verdict comes at the end`;
    } else {
      const words = comparisonWords(comparison);
      this.#headline.replaceChildren(h('strong', {}, words.verdict), `${words.joint}${words.detail}`);
    }
    const rows = sides.map(({ setting, medianMs, lowMs, highMs, gpuMs, repetitions }) => [
      h('span', {}, h('strong', {}, setting), ` ${names[setting]}`),
      formatMs(medianMs),
      `${formatMs(lowMs)} – ${formatMs(highMs)}`,
      formatMs(gpuMs),
      String(repetitions),
    ]);
    this.#table.replaceChildren(
      table('Wall times; every result was checked', ['Setting', 'Median, ms', 'From – to', 'GPU, ms', 'Runs'], rows),
    );
    this.#chart.update({
      series: sides.map(({ setting, wallsMs }) => ({ name: `${setting}: ${names[setting]}`, values: [...wallsMs] })),
    });
    const withPhases = sides.filter(({ phases }) => phases !== null);
    this.#shares.root.hidden = withPhases.length === 0;
    if (withPhases.length > 0) {
      this.#shares.update({ bars: withPhases.map(({ setting, phases }) => ({ label: setting, parts: phases ?? [] })) });
    }
  }
}
