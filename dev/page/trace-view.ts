import { blocksOf } from '../bench/export.js';
import { formatMs, formatPercent, formatSize } from '../bench/format.js';
import { isOnGpu, sumOnGpu } from '../bench/measure.js';
import type { StampedRow, TraceRow } from '../bench/rows.js';
import { summarise, type Timed } from '../bench/summary.js';
import { timeline } from './charts/index.js';
import { h } from './dom.js';
import { passTables } from './passes.js';
import type { ResultView } from './result-view.js';
import { verdict } from './verdict.js';

/** The run of the middle wall time of each case on a time line, and its passes. */
export class TraceView implements ResultView {
  readonly root = h('div', { class: 'sizes' });
  readonly #rows: StampedRow[] = [];
  readonly #sections = new Map<string, TraceSection>();

  onRow(row: StampedRow): void {
    this.#rows.push(row);
    if (row.event !== 'trace') return;
    let section = this.#sections.get(row.case);
    if (section === undefined) {
      section = new TraceSection();
      this.#sections.set(row.case, section);
      this.root.append(section.root);
    }
    const own = this.#rows.filter((each) => each.event === 'trace' && each.case === row.case);
    section.show(summarise(own)[0] as Timed, own as (StampedRow & TraceRow)[]);
  }
}

class TraceSection {
  readonly #title = h('h3');
  readonly #headline = h('p', { class: 'headline' });
  readonly #chart = timeline({
    data: { blocks: [] },
    caption: 'One MSM, from the call to the result',
    summary: 'What the host and the GPU did, and when.',
  });
  readonly #note = h('p', { class: 'note' });
  readonly #passes = h('div');
  readonly root = h(
    'article',
    { class: 'size' },
    this.#title,
    this.#headline,
    this.#chart.root,
    this.#note,
    this.#passes,
  );

  show(timed: Timed, rows: readonly TraceRow[]): void {
    this.#title.textContent = timed.n === 1 ? '1 point' : `${formatSize(timed.n)} points`;
    if (timed.wrong || timed.medianMs === null) {
      this.#headline.replaceChildren(verdict(false), ': it has no time');
      this.#chart.root.hidden = true;
      this.#passes.replaceChildren();
      return;
    }
    const middle = [...rows].sort((a, b) => (a.wallMs ?? 0) - (b.wallMs ?? 0))[(rows.length - 1) >> 1] as TraceRow;
    this.#chart.root.hidden = timed.on === 'cpu';
    this.#note.textContent =
      timed.on === 'cpu'
        ? 'Computed on the CPU (cpubelow): there are no passes.'
        : `Repetition ${middle.repetition}, the middle one by its wall. Host and GPU have clocks of their own: that the GPU began when the host had submitted is an assumption.`;
    if (timed.on === 'gpu') this.#chart.update({ blocks: blocksOf(middle) });
    const phases = timed.phases ?? [];
    const gpuMs = timed.on === 'gpu' ? sumOnGpu(timed.phases) : null;
    const most = phases.filter(isOnGpu).sort((a, b) => b.ms - a.ms)[0];
    this.#headline.replaceChildren(
      h('strong', {}, `${formatMs(timed.medianMs)} ms`),
      ` from the call to the result, median of ${rows.length}`,
      gpuMs !== null && gpuMs > 0 && most !== undefined
        ? `; ${formatMs(gpuMs)} ms of it on the GPU, and ${formatPercent(most.ms / gpuMs)} of those in “${most.name}”`
        : '',
    );
    this.#passes.replaceChildren(passTables(timed));
  }
}
