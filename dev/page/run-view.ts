/** What a run looks like while it goes and when it is over. */
import { formatProgress, formatTimeLeft } from '../bench/format.js';
import { type Mode, modes } from '../bench/modes.js';
import type { StampedRow } from '../bench/rows.js';
import type { MsmBench, Run, RunListener } from '../bench/run.js';
import { AbView } from './ab-view.js';
import { CalibrateView } from './calibrate-view.js';
import { h, note } from './dom.js';
import { downloads } from './downloads.js';
import { adapterLine, environmentDetails } from './environment-view.js';
import { FieldBenchView } from './field-bench-view.js';
import { MsmCrossCheckView } from './msm-cross-check-view.js';
import type { ResultView } from './result-view.js';
import type { RowPoster } from './row-poster.js';
import { TimingsView } from './timings-view.js';
import { TraceView } from './trace-view.js';

/** Screen readers are told where the run is this often, not at every repetition. */
const announceEveryMs = 5000;

const statusWords = { idle: 'Not started', running: 'Running', done: 'Done', failed: 'Failed' } as const;

/** Of the modes that a page has. */
const views: Readonly<Record<Exclude<Mode, 'targets'>, new () => ResultView>> = {
  'msm-cross-check': MsmCrossCheckView,
  'msm-bench': TimingsView,
  'msm-trace': TraceView,
  'accum-ab': AbView,
  sweep: TimingsView,
  'field-bench': FieldBenchView,
  calibrate: CalibrateView,
  crossover: TimingsView,
};

export class RunView implements RunListener {
  readonly root: HTMLElement;
  readonly #run: () => Run;
  readonly #poster: RowPoster;
  readonly #results: ResultView;
  readonly #badge = h('span', { class: 'badge' });
  readonly #adapter = h('div');
  readonly #environment = h('div');
  readonly #bar = h('progress', { 'aria-label': 'Progress of the run', max: 1, value: 0 });
  readonly #doing = h('p', { class: 'note steady' });
  readonly #live = h('p', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
  readonly #alert = h('div', { class: 'size', role: 'alert' });
  readonly #downloads = h('div');
  readonly #note = note();
  readonly #stop = h('button', { type: 'button', click: () => this.#stopRun() }, 'Stop');
  readonly #again = h('button', { type: 'button', hidden: true, click: () => location.reload() }, 'Run again');
  #announcedAt = 0;

  constructor(mode: Mode, poster: RowPoster, run: () => Run) {
    this.#run = run;
    this.#poster = poster;
    this.#results = new views[mode as keyof typeof views]();
    this.root = h(
      'section',
      { class: 'run', 'aria-labelledby': 'run-title' },
      h(
        'div',
        { class: 'run-head' },
        h('h2', { id: 'run-title' }, modes[mode].title, ' ', this.#badge),
        this.#stop,
        this.#again,
      ),
      this.#adapter,
      this.#alert,
      h('div', { class: 'progress' }, this.#bar, this.#doing),
      this.#live,
      this.#results.root,
      this.#environment,
      this.#downloads,
      this.#note,
    );
  }

  onProgress(bench: Readonly<MsmBench>): void {
    const { status, stopped, done, total, secondsLeft } = bench;
    const over = status === 'done' || status === 'failed';
    const word = over && stopped ? 'Stopped' : statusWords[status];
    this.#badge.textContent = word;
    this.#badge.dataset.status = over && stopped ? 'stopped' : status;
    this.#bar.max = Math.max(1, total);
    // nobody knows how long shaders take to compile
    if (secondsLeft === null && !over) this.#bar.removeAttribute('value');
    else this.#bar.value = done;
    this.#bar.parentElement?.toggleAttribute('hidden', over);
    const left = secondsLeft === null ? '' : `, ${formatTimeLeft(secondsLeft)}`;
    this.#doing.textContent = formatProgress(bench);
    const hadFocus = document.activeElement === this.#stop;
    this.#stop.hidden = over;
    this.#again.hidden = !over;
    if (over && hadFocus) this.#again.focus();
    const now = performance.now();
    if (over || now - this.#announcedAt > announceEveryMs) {
      this.#announcedAt = now;
      this.#live.textContent =
        status === 'failed' ? '' : over ? 'The run is done.' : `${done} of ${total} done${left}.`;
    }
    document.title = `${over ? word : `${done}/${total}`} – webgpu-msm bench`;
    if (over) this.#end(bench);
  }

  /** What runs on the GPU cannot be called back: it may take a moment. */
  #stopRun(): void {
    this.#stop.textContent = 'Stopping …';
    this.#run().stop();
  }

  onRow(row: StampedRow): void {
    if (row.event === 'init') {
      this.#adapter.replaceChildren(adapterLine(row));
      this.#environment.replaceChildren(environmentDetails(row));
    }
    this.#results.onRow(row);
  }

  #end(bench: Readonly<MsmBench>): void {
    const { error, stopped, deviceLost, rows, runId } = bench;
    if (stopped)
      this.#alert.replaceChildren(note('Stopped by you. What was measured until then, if anything, is below.'));
    else if (error !== null) this.#alert.replaceChildren(...this.#trouble(error, deviceLost));
    if (rows.length > 1) this.#downloads.replaceChildren(downloads(bench, this.#results.root));
    this.#note.replaceChildren(
      `Run ${runId}, ${this.#run().seconds.toFixed(1)} s. `,
      this.#poster.failure === null
        ? `${this.#poster.posted} of its ${rows.length} rows are in dev/results/ of the dev server${this.#poster.refused > 0 ? '; the others were too large for it' : ''}.`
        : `No dev server took the rows (${this.#poster.failure}): the results are on this page only; download what you want to keep.`,
    );
  }

  #trouble(error: string, deviceLost: boolean): HTMLElement[] {
    const message = h('p', { class: 'alert' }, error);
    if (!deviceLost) return [message];
    return [
      message,
      note(
        'The browser took the GPU away, or its driver was reset. That happens when the device sleeps, when another program crashes the driver, or when one command takes too long. What was measured until then, if anything, is below.',
      ),
      h('button', { type: 'button', class: 'primary', click: () => location.reload() }, 'Start again'),
    ];
  }
}
