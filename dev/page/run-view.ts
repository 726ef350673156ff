/** What a run looks like while it goes and when it is over. */
import { h } from './dom.js';
import { FieldBenchView } from './field-bench-view.js';
import { describeAdapter } from './format.js';
import { type Mode, modes } from './knobs.js';
import { MsmBenchView } from './msm-bench-view.js';
import { MsmCrossCheckView } from './msm-cross-check-view.js';
import type { StampedRow } from './rows.js';
import type { MsmBench, Run, RunListener } from './run.js';

/** Screen readers are told where the run is this often, not at every repetition. */
const announceEveryMs = 5000;

const statusWords = { idle: 'Not started', running: 'Running', done: 'Done', failed: 'Failed' } as const;

const views = {
  'msm-bench': MsmBenchView,
  'msm-cross-check': MsmCrossCheckView,
  'field-bench': FieldBenchView,
} as const satisfies Record<Mode, unknown>;

export class RunView implements RunListener {
  readonly root: HTMLElement;
  readonly #run: () => Run;
  readonly #results: FieldBenchView | MsmBenchView | MsmCrossCheckView;
  readonly #badge = h('span', { class: 'badge' });
  readonly #adapter = h('p', { class: 'adapter', hidden: true });
  readonly #bar = h('progress', { 'aria-label': 'Progress of the run', max: 1, value: 0 });
  readonly #doing = h('p', { class: 'doing' });
  readonly #live = h('p', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
  readonly #alert = h('div', { role: 'alert' });
  readonly #note = h('p', { class: 'note' });
  readonly #stop = h('button', { type: 'button', click: () => this.#run().stop() }, 'Stop');
  readonly #again = h('button', { type: 'button', hidden: true, click: () => location.reload() }, 'Run again');
  #announcedAt = 0;

  constructor(mode: Mode, run: () => Run) {
    this.#run = run;
    this.#results = new views[mode]();
    this.root = h(
      'section',
      { class: 'run', 'aria-labelledby': 'run-title' },
      h(
        'div',
        { class: 'run-head' },
        h('h2', { id: 'run-title' }, modes[mode], ' ', this.#badge),
        this.#stop,
        this.#again,
      ),
      this.#adapter,
      this.#alert,
      h('div', { class: 'progress' }, this.#bar, this.#doing),
      this.#live,
      this.#results.root,
      this.#note,
    );
  }

  onProgress(bench: Readonly<MsmBench>): void {
    const { status, done, total, doing, error } = bench;
    const over = status === 'done' || status === 'failed';
    this.#badge.textContent = statusWords[status];
    this.#badge.dataset.status = status;
    this.#bar.max = Math.max(1, total);
    this.#bar.value = status === 'done' ? this.#bar.max : done;
    this.#bar.parentElement?.toggleAttribute('hidden', over);
    this.#doing.textContent = doing === '' ? '' : `${doing} … ${done} of ${total} done`;
    this.#stop.hidden = over;
    this.#again.hidden = !over;
    if (bench.adapter !== null && this.#adapter.hidden) this.#showAdapter(bench.adapter);
    const now = performance.now();
    if (over || now - this.#announcedAt > announceEveryMs) {
      this.#announcedAt = now;
      this.#live.textContent = status === 'failed' ? '' : over ? 'The run is done.' : `${done} of ${total} done.`;
    }
    document.title = `${over ? statusWords[status] : `${done}/${total}`} – webgpu-msm bench`;
    if (!over) return;
    if (error !== null) this.#alert.replaceChildren(h('p', { class: 'alert' }, error));
    const { poster } = this.#run();
    this.#note.replaceChildren(
      `Run ${bench.runId}, ${this.#run().seconds.toFixed(1)} s. `,
      poster.failure === null
        ? `${poster.posted} rows are in dev/results/ of the dev server.`
        : `No dev server took the rows (${poster.failure}): the results are on this page only, and in window.msmBench.`,
    );
  }

  onRow(row: StampedRow): void {
    this.#results.onRow(row);
  }

  #showAdapter(adapter: NonNullable<MsmBench['adapter']>): void {
    this.#adapter.hidden = false;
    this.#adapter.replaceChildren(
      h('span', { class: 'label' }, 'Adapter'),
      ' ',
      h('strong', {}, describeAdapter(adapter)),
      ...(adapter.software
        ? [
            ' ',
            h('span', { class: 'badge', 'data-status': 'software' }, 'software'),
            ' ',
            'a CPU that plays GPU: right, and slow',
          ]
        : []),
    );
  }
}
