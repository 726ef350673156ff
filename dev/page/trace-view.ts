import { blocksOf } from '../bench/export.js';
import { formatMs, formatPercent, formatSize } from '../bench/format.js';
import { isOnGpu, sumOnGpu } from '../bench/measure.js';
import type { StampedRow, TraceRow } from '../bench/rows.js';
import { medianRepetition, summarise, type Timed } from '../bench/summary.js';
import { show, timeline } from './charts/index.js';
import { h, note, verdict } from './dom.js';
import { passTables } from './passes.js';
import type { ResultView } from './result-view.js';
import { tiles } from './tiles.js';

/** The run of the middle wall time of each case on a time line, and its passes. */
export class TraceView implements ResultView {
  readonly root = h('div', { class: 'sizes' });
  readonly #rows: StampedRow[] = [];
  readonly #sections = new Map<string, TraceSection>();

  onRow(row: StampedRow): void {
    this.#rows.push(row);
    if (row.event !== 'trace') return;
    const section = this.#sections.get(row.case) ?? new TraceSection();
    if (!this.#sections.has(row.case)) this.root.append(section.root);
    this.#sections.set(row.case, section);
    const own = this.#rows.filter((each) => each.event === 'trace' && each.case === row.case);
    section.show(summarise(own)[0] as Timed, own as (StampedRow & TraceRow)[]);
  }
}

class TraceSection {
  readonly #summary = h('div', { class: 'size' });
  readonly #chart = timeline({
    caption: 'One MSM, from the call to the result',
    summary: 'What the host and the GPU did, and when.',
  });
  readonly #passes = h('div', { class: 'size' });
  readonly root = h('article', { class: 'size' }, this.#summary, this.#chart.root, this.#passes);

  show(timed: Timed, rows: readonly TraceRow[]): void {
    const title = h('h3', {}, timed.n === 1 ? '1 point' : `${formatSize(timed.n)} points`);
    const middle = medianRepetition(rows);
    if (timed.wrong || middle === null) {
      this.root.replaceChildren(title, h('p', { class: 'headline' }, verdict(false), ': it has no time'));
      return;
    }
    const onGpu = timed.on === 'gpu';
    show(this.#chart, onGpu ? { blocks: blocksOf(middle) } : null);
    const gpuMs = onGpu ? sumOnGpu(timed.phases) : null;
    const most = (timed.phases ?? []).filter(isOnGpu).sort((a, b) => b.ms - a.ms)[0];
    const share = gpuMs !== null && gpuMs > 0 && most !== undefined ? formatPercent(most.ms / gpuMs) : null;
    this.#summary.replaceChildren(
      title,
      tiles([
        { label: 'Wall', value: `${formatMs(timed.typicalMs)} ms`, note: `the middle one of ${rows.length}` },
        gpuMs === null ? null : { label: 'GPU time', value: `${formatMs(gpuMs)} ms`, note: 'all passes' },
        share === null ? null : { label: 'Most of it', value: share, note: `of the GPU’s time in “${most?.name}”` },
      ]),
    );
    this.#passes.replaceChildren(
      note(
        onGpu
          ? `Repetition ${middle.repetition}, the middle one by its wall. Host and GPU have clocks of their own: that the GPU began when the host had submitted is an assumption.`
          : 'Computed on the CPU (cpubelow): there are no passes.',
      ),
      passTables(timed),
    );
  }
}
