import { isKnob, problemText, queryText, readKnobs, spelledOut, suggestedMode } from './bench/knobs.js';
import { startBench } from './bench/modes/index.js';
import { modes } from './bench/modes.js';
import { type MsmBench, Run } from './bench/run.js';
import { readAddress } from './page/address.js';
import { h, note } from './page/dom.js';
import { explanation, missingWebGpu } from './page/explanation.js';
import { pageHost } from './page/host.js';
import { FORM_ID, knobForm } from './page/knob-form.js';
import { noteList, problemList } from './page/problems.js';
import { makeRowPoster } from './page/row-poster.js';
import { RunView } from './page/run-view.js';

declare global {
  interface Window {
    msmBench: MsmBench;
  }
}

/** What the address sets, and a button that runs it. */
const readyToRun = (query: URLSearchParams): HTMLElement =>
  h(
    'section',
    { class: 'run', 'aria-label': 'Ready to run' },
    h('p', {}, 'The address sets ', h('code', {}, queryText(query)), '. Nothing has started yet.'),
    h(
      'button',
      { type: 'submit', class: 'primary', form: FORM_ID },
      `Run the ${modes[suggestedMode(query)].title.toLowerCase()}`,
    ),
  );

/** What the page shows of an address; starts what that says. */
function open(asked: URLSearchParams): (Node | null)[] {
  const { knobs, problems, notes } = readKnobs(asked);
  const query = spelledOut(asked);
  const top = noteList(notes);
  const mode = knobs?.mode ?? null;
  if (knobs !== null && mode !== null) {
    const poster = makeRowPoster();
    const view = new RunView(mode, poster, () => run);
    const run: Run = new Run(view, poster.sink);
    window.msmBench = run.bench;
    void startBench(run, pageHost(queryText(asked)), knobs, mode);
    return [
      top,
      view.root,
      h('details', { class: 'change' }, h('summary', {}, 'Change the knobs'), knobForm(query)),
      explanation('questions'),
      note(h('a', { href: './' }, 'What is this page?')),
    ];
  }
  const { bench } = new Run({ onProgress() {}, onRow() {} });
  window.msmBench = bench;
  if (knobs === null) {
    bench.status = 'failed';
    bench.error = problems.map(problemText).join('\n');
    return [top, h('div', { role: 'alert' }, problemList(problems)), knobForm(query), explanation('reference')];
  }
  const about = [...query.keys()].some(isKnob)
    ? [readyToRun(query)]
    : [explanation('introduction'), explanation('questions')];
  return [missingWebGpu(), top, ...about, knobForm(query), explanation('reference')];
}

const query = readAddress(location);
const parts = open(query).filter((part) => part !== null);
document.querySelector('#main')?.replaceChildren(...parts);

// another fragment in the address bar loads no page by itself
addEventListener('hashchange', () => {
  if (`${readAddress(location)}` !== `${query}`) location.reload();
});
