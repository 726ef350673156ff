import { formatMs, shortSize } from '../bench/format.js';
import type { ComparisonRow, StampedRow } from '../bench/rows.js';
import { partsOfWall, summarise, type Timed } from '../bench/summary.js';
import { comparisonWords, equivalentsWords } from '../bench/words.js';
import { distributionChart, show, stackedShares } from './charts/index.js';
import { h, table, verdict } from './dom.js';
import type { ResultView } from './result-view.js';
import { tiles } from './tiles.js';

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
    const section = this.#sections.get(row.case) ?? new AbSection();
    if (!this.#sections.has(row.case)) this.root.append(section.root);
    this.#sections.set(row.case, section);
    const own = this.#rows.filter((each) => each.event === 'repetition' && each.case === row.case);
    section.show(summarise(own), this.#names, row.event === 'comparison' ? row : null);
  }
}

class AbSection {
  readonly #summary = h('div', { class: 'size' });
  readonly #table = h('div');
  readonly #chart = distributionChart({
    caption: 'How the times are distributed',
    summary: 'Share of the runs that took at most so long, for A and for B.',
  });
  readonly #shares = stackedShares({
    caption: 'Where the time goes',
    summary: 'Shares of the wall of the repetition in the middle, for A and for B.',
  });
  readonly root = h('article', { class: 'size' }, this.#summary, this.#table, this.#chart.root, this.#shares.root);

  show(timed: readonly Timed[], [a, b]: readonly [string, string], comparison: ComparisonRow | null): void {
    const names: Readonly<Record<string, string>> = { A: a, B: b };
    const sides = timed.toSorted((x, y) => x.setting.localeCompare(y.setting));
    const [first] = sides;
    if (first === undefined) return;
    const title = h('h3', {}, first.n === 1 ? '1 point' : `${shortSize(first.n)} points`);
    const wrong = sides.filter((side) => side.wrong).map(({ setting }) => setting);
    if (wrong.length > 0) {
      const which = `: ${wrong.join(', ')}; no time counts`;
      this.root.replaceChildren(title, h('p', { class: 'headline' }, verdict(false), which));
      return;
    }
    const words = comparison && comparisonWords(comparison);
    this.#summary.replaceChildren(
      title,
      tiles([
        {
          label: 'Verdict',
          value: words?.verdict ?? `${first.repetitions} pairs so far`,
          note: comparison && words ? `${words.detail}; ${equivalentsWords(comparison)}` : 'it comes at the end',
        },
        ...sides.map(({ setting, medianMs }) => ({
          label: setting,
          value: `${formatMs(medianMs)} ms`,
          note: names[setting] as string,
        })),
      ]),
    );
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
      series: sides.map(({ setting, wallsMs }) => ({ name: `${setting}: ${names[setting]}`, values: wallsMs })),
    });
    const bars = sides.map((side) => ({ label: side.setting, parts: partsOfWall(side) }));
    const timedBars = bars.flatMap(({ label, parts }) => (parts === null ? [] : [{ label, parts }]));
    show(this.#shares, timedBars.length > 0 ? { bars: timedBars } : null);
  }
}
