/** Shows a run: its progress, its report, its environment, and what can be copied and downloaded. */

import { describeAdapter, formatProgress, formatRuntime, isCpu, placeOf } from '../bench/format.js';
import { modeOf } from '../bench/modes.js';
import { hasTrace, toChromeTrace, toJson } from '../bench/report.js';
import { type RowOf, rowsOf, type StampedRow } from '../bench/rows.js';
import type { MsmBench, Run, RunListener } from '../bench/run.js';
import { copyButton, h, note, table } from './dom.js';
import type { RowPoster } from './host.js';
import { PartsView } from './parts-view.js';

function save(name: string, json: string): void {
  const url = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  h('a', { href: url, download: name }).click();
  // the browser has started the download by the next task
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** @param results element that shows the report of the rows */
function downloads({ runId, rows }: Readonly<MsmBench>, results: HTMLElement): HTMLElement {
  const [init] = rowsOf(rows, 'init');
  const link = new URL(`?${init?.query ?? ''}`, document.baseURI).href;
  const markdown = (): string => {
    const told = init as NonNullable<typeof init>;
    const { version, commit } = told.environment;
    const environment = `${placeOf(told)}; webgpu-msm ${version}${commit === null ? '' : `, ${commit}`}`;
    return `### ${modeOf(told.mode).title}\n\n${environment}\n<${link}>\n\n${markdownOf(results)}\n`;
  };
  const button = (label: string, end: string, text: () => string): HTMLElement =>
    h('button', { type: 'button', click: () => save(`webgpu-msm-${runId}${end}`, text()) }, label);
  return h(
    'div',
    { class: 'buttons' },
    copyButton('Copy the link', () => link),
    init === undefined ? null : copyButton('Copy as Markdown', markdown),
    button('Download JSON', '.json', () => toJson(rows)),
    ...(hasTrace(rows)
      ? [
          button('Download trace', '.trace.json', () => toChromeTrace(rows)),
          h('small', {}, 'The trace opens in ', h('a', { href: 'https://ui.perfetto.dev' }, 'ui.perfetto.dev'), '.'),
        ]
      : []),
  );
}

/** Converts a report to Markdown, for an issue, a chat or a notebook. */

const plain = ({ innerText }: HTMLElement): string => innerText.trim().replace(/\s+/g, ' ');

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function tableOf(table: HTMLTableElement): string {
  const [heads = [], ...body] = [...table.rows].map(({ cells }) => [...cells].map(plain));
  const sides = heads.map((_, i) => (i === 0 ? '---' : '---:'));
  return [`**${table.ariaLabel}**`, '', line(heads), line(sides), ...body.map(line)].join('\n');
}

const tilesOf = (tiles: HTMLElement): string =>
  [...tiles.children]
    .map((tile) => {
      const [label = '', value = '', note] = [...(tile.children as HTMLCollectionOf<HTMLElement>)].map(plain);
      return `- ${label}: **${value}**${note === undefined ? '' : ` (${note})`}`;
    })
    .join('\n');

/** Returns the visible headings, figures and tables in order; collapsed ones are left out. */
const markdownOf = (root: HTMLElement): string =>
  [...root.querySelectorAll<HTMLElement>('h3, .headline, .tiles, table')]
    .filter((part) => part.closest('details:not([open]), [hidden]') === null)
    .map((part) => {
      if (part instanceof HTMLTableElement) return tableOf(part);
      if (part.matches('.tiles')) return tilesOf(part);
      if (part.matches('.headline')) return `**${plain(part)}**`;
      return `#### ${plain(part)}`;
    })
    .join('\n\n');

/** Shows the CPU or the adapter in one line, with a caution for software adapters. */
function adapterLine(init: RowOf<'init'>): HTMLElement {
  const { adapter, environment } = init;
  const small = h('small', {}, formatRuntime(init));
  if (isCpu(adapter)) {
    const cores = environment.cores === null ? '' : `, ${environment.cores} logical cores`;
    return h('p', {}, h('strong', {}, `CPU${cores}`), ' ', h('span', { class: 'badge' }, 'no GPU opened'), ' ', small);
  }
  const caution = adapter.software
    ? [h('span', { class: 'badge' }, 'software'), ' Software GPU: correct but slow; timings do not reflect real GPUs. ']
    : [];
  const name = h('strong', {}, describeAdapter(adapter));
  return h('p', { class: adapter.software ? 'caution' : false }, name, ' ', ...caution, small);
}

function environmentDetails(init: RowOf<'init'>): HTMLElement {
  const { environment, seed, settings, query } = init;
  const { features, limits, wgslFeatures, ...facts } = environment;
  const lists = { settings: settings.join(' | '), features: features.join(', '), wgsl: wgslFeatures.join(', ') };
  const described = Object.entries({ ...facts, seed, query, ...lists }).map(
    ([name, value]) => [name, value === null ? 'unknown' : String(value)] as const,
  );
  return h(
    'details',
    { class: 'environment' },
    h('summary', {}, 'Environment, features and limits'),
    table('Environment', ['Name', 'Value'], described),
    isCpu(init.adapter)
      ? null
      : table(
          'Limits of the adapter',
          ['Limit', 'Value'],
          Object.entries(limits).map(([name, value]) => [name, value.toLocaleString('en')]),
        ),
  );
}

const LOST =
  'The GPU device was lost: the browser or the driver reset it. This happens when the machine sleeps, when another program crashes the driver, or when one command takes too long. Earlier results are below.';

const statusWords = { idle: 'Not started', running: 'Running', done: 'Done', failed: 'Failed' } as const;

export class RunView implements RunListener {
  readonly root: HTMLElement;
  readonly #run: () => Run;
  readonly #poster: RowPoster;
  readonly #mode: string;
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

  constructor(mode: string, poster: RowPoster, run: () => Run) {
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
