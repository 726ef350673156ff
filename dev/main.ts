import { errorMessage } from './bench/error-message.js';
import { type Knobs, parseKnobs } from './bench/knobs.js';
import { type MsmBench, Run, type RunListener } from './bench/run.js';
import { startBench } from './bench/start.js';
import { h } from './page/dom.js';
import { introduction, missingWebGpu, questions, reference } from './page/explanation.js';
import { pageHost } from './page/host.js';
import { knobForm } from './page/knob-form.js';
import { RowPoster } from './page/row-poster.js';
import { RunView } from './page/run-view.js';

declare global {
  interface Window {
    msmBench: MsmBench;
  }
}

const silent: RunListener = { onProgress() {}, onRow() {} };

function open(main: HTMLElement): void {
  const query = new URLSearchParams(location.search);
  let knobs: Knobs;
  try {
    knobs = parseKnobs(query);
  } catch (error) {
    const { bench } = new Run(silent);
    bench.status = 'failed';
    bench.error = errorMessage(error);
    window.msmBench = bench;
    main.replaceChildren(
      h('div', { role: 'alert' }, h('p', { class: 'alert' }, bench.error)),
      knobForm(query),
      reference(),
    );
    return;
  }

  const { mode } = knobs;
  if (mode === null) {
    window.msmBench = new Run(silent).bench;
    main.replaceChildren(
      ...[missingWebGpu()].filter((note) => note !== null),
      introduction(),
      questions(),
      knobForm(query),
      reference(),
    );
    return;
  }

  const poster = new RowPoster();
  const view = new RunView(mode, poster, () => run);
  const run: Run = new Run(view, poster);
  window.msmBench = run.bench;
  main.replaceChildren(
    view.root,
    h('details', { class: 'change' }, h('summary', {}, 'Change the knobs'), knobForm(query)),
    questions(),
    h('p', { class: 'note' }, h('a', { href: './' }, 'What is this page?')),
  );
  void startBench(run, pageHost(), knobs, mode);
}

const main = document.querySelector<HTMLElement>('#main');
if (main !== null) open(main);
