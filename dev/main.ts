import { problemText, queryText } from './bench/knob.js';
import { isKnob, leftToEngine, readKnobs, spelledOut, suggestedMode } from './bench/knobs.js';
import { modeOf, startBench } from './bench/modes.js';
import { type MsmBench, Run } from './bench/run.js';
import { h, note } from './page/dom.js';
import { missingGpu, noteList, offerCpu, problemList, whyNoGpu } from './page/gpu-here.js';
import { makeRowPoster, pageHost, readAddress } from './page/host.js';
import { FORM_ID, type KnobForm, knobForm } from './page/knob-form.js';
import { RunView } from './page/run-view.js';

declare global {
  interface Window {
    msmBench: MsmBench;
  }
}

/** Returns a text of the page, which is a template of index.html. */
const explanation = (id: 'introduction' | 'questions' | 'reference'): Node =>
  document.importNode((document.getElementById(id) as HTMLTemplateElement).content, true);

/** Names, each as code, with commas between them. */
const codes = (names: readonly string[]): (Node | string)[] =>
  names.flatMap((name, i) => [...(i === 0 ? [] : [', ']), h('code', {}, name)]);

const folded = (title: string, form: KnobForm, open: boolean): HTMLElement =>
  h('details', { class: 'advanced', open }, h('summary', {}, title), form.root);

/**
 * Shows the knobs that the address sets, those it leaves to the engine, and a button that runs it.
 */
const readyToRun = (query: URLSearchParams, left: readonly string[]): HTMLElement => {
  const text = queryText(query);
  return h(
    'section',
    { class: 'run', 'aria-label': 'Ready to run' },
    h(
      'p',
      {},
      'The address ',
      ...(text === '' ? [] : ['sets ', h('code', {}, text)]),
      ...(left.length === 0 ? [] : [text === '' ? 'leaves ' : ' and leaves ', ...codes(left), ' to the engine']),
      '. Nothing has started yet.',
    ),
    h(
      'button',
      { type: 'submit', class: 'primary', form: FORM_ID },
      `Run the ${modeOf(suggestedMode(query)).title.toLowerCase()}`,
    ),
  );
};

async function lookForGpu(
  query: URLSearchParams,
  form: KnobForm,
  place: (notice: HTMLElement) => void = (notice) => document.querySelector('#main')?.prepend(notice),
): Promise<void> {
  const why = await whyNoGpu();
  if (why === null) return;
  place(missingGpu(why, query));
  offerCpu(document.querySelectorAll<HTMLAnchorElement>('.questions a'));
  form.withoutGpu();
}

function open(asked: URLSearchParams): (Node | null)[] {
  const { knobs, problems, notes } = readKnobs(asked);
  const query = spelledOut(asked);
  const left = leftToEngine(asked);
  const mode = knobs?.mode ?? null;
  const form = knobForm(query, problems);
  if (knobs !== null && mode !== null) {
    const poster = makeRowPoster();
    const view = new RunView(mode, poster, () => run);
    const run: Run = new Run(view, poster.sink);
    window.msmBench = run.bench;
    const running = startBench(run, pageHost(queryText(asked)), knobs, mode);
    const change = folded('Advanced: change the knobs of this run', form, false);
    // a run on the CPU keeps the machine to itself until it is over; the notice then follows the
    // run
    if (knobs.opensGpu) void lookForGpu(query, form);
    else void running.then(() => lookForGpu(query, form, (notice) => change.before(notice)));
    return [
      noteList([...notes, ...left.map((name) => `${name} has no value, which leaves it to the engine.`)]),
      view.root,
      change,
      explanation('questions'),
      note(h('a', { href: './' }, 'What is this page?')),
    ];
  }
  const { bench } = new Run({ onProgress() {}, onRow() {} });
  window.msmBench = bench;
  void lookForGpu(query, form);
  if (knobs === null) {
    bench.status = 'failed';
    bench.error = problems.map(problemText).join('\n');
    const alert = h('div', { role: 'alert' }, problemList(problems));
    return [noteList(notes), alert, folded('Advanced', form, true), explanation('questions'), explanation('reference')];
  }
  const isSet = [...query.keys(), ...left].some(isKnob);
  const advanced = folded('Advanced: choose every knob of a run', form, isSet);
  return [
    noteList(notes),
    ...(isSet
      ? [readyToRun(query, left), advanced, explanation('questions')]
      : [explanation('questions'), advanced, explanation('introduction')]),
    explanation('reference'),
  ];
}

const query = readAddress(location);
const parts = open(query).filter((part) => part !== null);
document.querySelector('#main')?.replaceChildren(...parts);

// a changed fragment alone does not reload the page
addEventListener('hashchange', () => {
  if (`${readAddress(location)}` !== `${query}`) location.reload();
});
