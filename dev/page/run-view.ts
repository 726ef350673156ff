/** Shows a run while it goes on, and when it is over. */
import { formatProgress } from '../bench/format.js';
import { type Mode, modeOf } from '../bench/modes.js';
import type { StampedRow } from '../bench/rows.js';
import type { MsmBench, Run, RunListener } from '../bench/run.js';
import { h, note } from './dom.js';
import { downloads } from './downloads.js';
import { adapterLine, environmentDetails } from './environment-view.js';
import { PartsView } from './parts-view.js';
import type { RowPoster } from './row-poster.js';

const LOST =
  'The GPU device was lost: the browser or the driver reset it. This happens when the machine sleeps, when another program crashes the driver, or when one command takes too long. Earlier results are below.';

const statusWords = { idle: 'Not started', running: 'Running', done: 'Done', failed: 'Failed' } as const;

export class RunView implements RunListener {
  readonly root: HTMLElement;
  readonly #run: () => Run;
  readonly #poster: RowPoster;
  readonly #mode: Mode;
  readonly #results = new PartsView(h('div', { class: 'sizes' }));
  #drawing = false;
  #drawMs = 0;
  readonly #badge = h('span', { class: 'badge', role: 'status' });
  readonly #adapter = h('div');
  readonly #environment = h('div');
  readonly #bar = h('progress', { 'aria-label': 'Progress of the run', max: 1, value: 0 });
  readonly #doing = h('p', { class: 'note steady' });
  readonly #alert = h('div', { class: 'size', role: 'alert' });
  readonly #downloads = h('div');
  readonly #note = note();
  readonly #stop = h('button', { type: 'button', click: () => this.#stopRun() }, 'Stop');
  readonly #again = h('button', { type: 'button', hidden: true, click: () => location.reload() }, 'Run again');

  constructor(mode: Mode, poster: RowPoster, run: () => Run) {
    this.#run = run;
    this.#poster = poster;
    this.#mode = mode;
    this.root = h(
      'section',
      { class: 'run', 'aria-labelledby': 'run-title' },
      h(
        'div',
        { class: 'buttons' },
        h('h2', { id: 'run-title' }, modeOf(mode).title, ' ', this.#badge),
        this.#stop,
        this.#again,
      ),
      this.#adapter,
      this.#alert,
      h('div', { class: 'progress' }, this.#bar, this.#doing),
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
    // the time left is unknown while shaders compile
    if (secondsLeft === null && !over) this.#bar.removeAttribute('value');
    else this.#bar.value = done;
    this.#bar.parentElement?.toggleAttribute('hidden', over);
    this.#doing.textContent = formatProgress(bench);
    const hadFocus = document.activeElement === this.#stop;
    this.#stop.hidden = over;
    this.#again.hidden = !over;
    if (over && hadFocus) this.#again.focus();
    document.title = `${over ? word : `${done}/${total}`} – webgpu-msm bench`;
    if (over) this.#end(bench);
  }

  /** Stops the run. Work on the GPU cannot be cancelled, so it may take a moment. */
  #stopRun(): void {
    this.#stop.textContent = 'Stopping …';
    this.#run().stop();
  }

  onRow(row: StampedRow): void {
    if (row.event === 'init') {
      this.#adapter.replaceChildren(adapterLine(row));
      this.#environment.replaceChildren(environmentDetails(row));
    }
    // drawing takes at most a tenth of the time: rows of small MSMs come fast, and long runs draw
    // slowly
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => requestAnimationFrame(() => this.#draw()), 9 * this.#drawMs);
  }

  #draw(): void {
    const begun = performance.now();
    this.#results.update(modeOf(this.#mode).show(this.#run().bench.rows));
    this.#drawMs = performance.now() - begun;
    this.#drawing = false;
  }

  #end(bench: Readonly<MsmBench>): void {
    this.#draw();
    const { error, stopped, deviceLost, rows, runId } = bench;
    const { failure, posted } = this.#poster.state;
    if (stopped) this.#alert.replaceChildren(note('You stopped the run. Earlier results are below.'));
    else if (error !== null)
      this.#alert.replaceChildren(h('p', { class: 'alert' }, error), deviceLost ? note(LOST) : '');
    if (rows.length > 1) this.#downloads.replaceChildren(downloads(bench, this.#results.root));
    this.#note.replaceChildren(
      `Run ${runId} took ${this.#run().seconds.toFixed(1)} s. `,
      failure === null
        ? `The dev server stored ${posted} of its ${rows.length} rows in dev/results/.`
        : `No dev server stored the rows (${failure}). Download the results to keep them.`,
    );
  }
}
