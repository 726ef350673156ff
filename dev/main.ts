import { MsmError } from '../src/index.js';
import { h } from './page/dom.js';
import { errorMessage } from './page/error-message.js';
import { introduction, missingWebGpu, reference } from './page/explanation.js';
import { runFieldBench } from './page/field-bench.js';
import { knobForm } from './page/knob-form.js';
import { type Knobs, type Mode, parseKnobs } from './page/knobs.js';
import { runMsmBench } from './page/msm-bench.js';
import { runMsmCrossCheck } from './page/msm-cross-check.js';
import { Run, type RunListener } from './page/run.js';
import { RunView } from './page/run-view.js';

const runs: Readonly<Record<Mode, (run: Run, knobs: Knobs) => Promise<void>>> = {
  'msm-bench': runMsmBench,
  'msm-cross-check': runMsmCrossCheck,
  'field-bench': runFieldBench,
};

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
      knobForm(new URLSearchParams()),
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
      knobForm(query),
      reference(),
    );
    return;
  }

  const view = new RunView(mode, () => run);
  const run: Run = new Run(view);
  window.msmBench = run.bench;
  main.replaceChildren(
    view.root,
    h('details', {}, h('summary', {}, 'Change the knobs'), knobForm(query)),
    h('p', { class: 'note' }, h('a', { href: './' }, 'What is this page?')),
  );
  run.start();
  runs[mode](run, knobs).catch((error: unknown) => {
    if (!(error instanceof MsmError) && !run.signal.aborted) console.error(error);
    return run.end(errorMessage(run.signal.aborted ? run.signal.reason : error));
  });
}

const main = document.querySelector<HTMLElement>('#main');
if (main !== null) open(main);
