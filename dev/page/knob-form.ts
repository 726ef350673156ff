/** The form of the page. What it says stands as a URL beside it: whatever it starts can be linked to. */
import { queryText, type RunKnobName, readKnobs, runKnobs, suggestedMode, tunedModes } from '../bench/knobs.js';
import { type Mode, modes, pageModeNames } from '../bench/modes.js';
import { type EngineKnob, engineKnobs } from '../bench/settings.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { copyButton } from './copy.js';
import { h, note } from './dom.js';
import { problemList } from './problems.js';

type Choices = Readonly<Record<string, string>>;

const about = (entries: Readonly<Record<string, { readonly about: string }>>): Choices =>
  Object.fromEntries(Object.entries(entries).map(([name, { about: line }]) => [name, `${name}: ${line}`]));

/** The run knobs that have a list to choose from, and what is written where nothing is chosen. */
const runChoices: Partial<Record<RunKnobName, { readonly choices: Choices; readonly unset: string | null }>> = {
  autorun: {
    choices: Object.fromEntries(pageModeNames.map((mode) => [mode, modes[mode].title])),
    unset: null,
  },
  points: { choices: about(pointDistributions), unset: 'distinct (default)' },
  scalars: { choices: about(scalarDistributions), unset: 'random (default)' },
  variants: { choices: { library: 'the library’s', all: 'all' }, unset: 'default' },
};

const placeholders: Partial<Record<RunKnobName, string>> = {
  logn: '10,12,14',
  n: '1000,4097',
  case: 'core',
  seed: '1',
  peers: 'noble',
  chains: '1,4',
};

/** A control with its label and its help. */
class Field {
  readonly root: HTMLElement;
  readonly name: string;
  readonly control: HTMLInputElement | HTMLSelectElement;
  readonly #help: HTMLElement;

  constructor(
    name: string,
    { label, help }: { readonly label: string; readonly help: string },
    control: HTMLInputElement | HTMLSelectElement,
    serial = 0,
  ) {
    this.name = name;
    this.control = control;
    const id = `knob-${name}${serial === 0 ? '' : `-${serial}`}`;
    control.id = id;
    control.name = name;
    control.setAttribute('aria-describedby', `${id}-help`);
    this.#help = h('small', { id: `${id}-help` }, help);
    this.root = h(
      'div',
      { class: `field field-${name.replace('.', '-')}` },
      h('label', { for: id }, label, ' ', h('code', {}, name)),
      control,
      this.#help,
    );
  }

  explain(help: string): void {
    this.#help.textContent = help;
  }

  /** What is hidden is disabled as well, so that it is not sent. */
  show(visible: boolean): void {
    this.root.hidden = !visible;
    this.control.disabled = !visible;
  }
}

const select = (choices: Choices, unset: string | null, now: string): HTMLSelectElement =>
  h(
    'select',
    {},
    unset === null ? null : h('option', { value: '' }, unset),
    ...Object.entries(choices).map(([value, text]) => h('option', { value, selected: value === now }, text)),
  );

const input = (placeholder: string, value: string): HTMLInputElement =>
  h('input', { type: 'text', placeholder, value, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });

const runFields = (query: URLSearchParams): Field[] =>
  (Object.keys(runKnobs) as RunKnobName[]).flatMap((name) => {
    const values = query.getAll(name);
    return (values.length === 0 ? [''] : values).map((value, i) => {
      const list = runChoices[name];
      const initial = name === 'autorun' && value === '' ? suggestedMode(query) : value;
      const control = list ? select(list.choices, list.unset, initial) : input(placeholders[name] ?? '', value);
      return new Field(name, runKnobs[name], control, i);
    });
  });

/** Those of the engine, for both sides or for one; in a sweep every knob takes a list. */
const engineFields = (query: URLSearchParams, side: '' | 'a.' | 'b.', mode: Mode): Field[] =>
  Object.entries(engineKnobs).map(([name, knob]: [string, EngineKnob]) => {
    const value = query.get(side + name) ?? '';
    if (!('words' in knob) || mode === 'sweep') {
      const [first = '', last = ''] = 'words' in knob ? Object.keys(knob.words) : knob.range.map(String);
      const range = 'words' in knob ? `${first} or ${last}` : `${first} to ${last}`;
      return new Field(side + name, knob, input(mode === 'sweep' ? `${range}, or a list` : range, value));
    }
    const words = Object.fromEntries(Object.entries(knob.words).map(([word, { label }]) => [word, label]));
    const choices =
      name === 'walkerpriv' && mode === 'msm-cross-check' ? { ...words, turns: 'one of them, in turns' } : words;
    return new Field(side + name, knob, select(choices, 'default', value));
  });

const group = (legend: string, explained: string, fields: readonly Field[]): HTMLFieldSetElement =>
  h(
    'fieldset',
    {},
    h('legend', {}, legend),
    note(explained),
    h('div', { class: 'fields' }, ...fields.map(({ root }) => root)),
  );

const NO_DIFFERENCE =
  'No tuning changes the result, only what it costs. Left empty, the engine chooses for n and for your device.';

/** Whether any knob of the engine is, for all sides. */
const isSet = (query: URLSearchParams): boolean =>
  Object.keys(engineKnobs).some((name) => (query.get(name) ?? '') !== '');

/** For buttons outside it. */
export const FORM_ID = 'knobs';

/** @param query with every knob spelled out */
export function knobForm(query: URLSearchParams): HTMLFormElement {
  const run = runFields(query);
  const tuning = h('div', { class: 'tuning' });
  const address = h('a', { class: 'address', href: './' });
  const trouble = h('div', { role: 'status', hidden: true });
  const copy = copyButton('Copy the link', () => address.href);
  const form = h(
    'form',
    { id: FORM_ID, 'aria-labelledby': 'form-title' },
    h('h2', { id: 'form-title' }, 'Knobs'),
    note('Each is a parameter of the URL. A value that it cannot have is refused by name.'),
    h('div', { class: 'fields' }, ...run.map(({ root }) => root)),
    tuning,
    h('div', { class: 'buttons' }, h('small', {}, 'This is the run:'), address),
    trouble,
    h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'primary' }, 'Run'), copy),
  );

  const values = (): URLSearchParams => {
    const filled = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value !== '') filled.append(name, String(value));
    return filled;
  };
  const modeOf = (): Mode => values().get('autorun') as Mode;
  /** What was typed for modes that are not shown now. */
  const typed = new URLSearchParams(query);
  const remember = (): void => {
    for (const element of form.elements) {
      const { name, value, disabled } = element as HTMLInputElement | HTMLSelectElement;
      if (name !== '' && name !== 'case' && !disabled) typed.set(name, value);
    }
  };

  /** Shows the knobs that mean something to the mode, with what they say in `from`. */
  const adjust = (from: URLSearchParams): void => {
    const mode = modeOf();
    run.find(({ name }) => name === 'autorun')?.explain(modes[mode].about);
    for (const field of run) {
      const known: readonly Mode[] = runKnobs[field.name as RunKnobName].modes;
      field.show(known.includes(mode));
    }
    tuning.replaceChildren();
    if (!tunedModes.includes(mode)) return;
    if (mode === 'accum-ab') {
      tuning.append(
        group('A', 'What A has, and B has not.', engineFields(from, 'a.', mode)),
        group('B', 'What B has, and A has not.', engineFields(from, 'b.', mode)),
        h(
          'details',
          { open: isSet(from) },
          h('summary', {}, 'The same for both'),
          group('A and B', NO_DIFFERENCE, engineFields(from, '', mode)),
        ),
      );
    } else {
      const line = mode === 'sweep' ? `Any of them may be a list: 32,64,128 or 8..12. ${NO_DIFFERENCE}` : NO_DIFFERENCE;
      tuning.append(
        h(
          'details',
          { open: isSet(from) || mode === 'sweep' },
          h('summary', {}, 'Tuning'),
          group('The engine', line, engineFields(from, '', mode)),
        ),
      );
    }
  };

  const mirror = (): void => {
    const now = values();
    const text = `?${queryText(now)}`;
    address.href = text;
    address.textContent = text;
    const { problems } = readKnobs(now);
    trouble.hidden = problems.length === 0;
    trouble.replaceChildren(problemList(problems));
  };

  form.addEventListener('input', (event) => {
    remember();
    if ((event.target as HTMLElement).id === 'knob-autorun') adjust(typed);
    mirror();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    mirror();
    // not the form's own way, which keeps the fragment and sends what was left empty
    if (trouble.hidden) location.assign(address.href);
    else trouble.scrollIntoView({ block: 'nearest' });
  });
  adjust(query);
  mirror();
  // what is wrong with the address stands above
  trouble.hidden = true;
  return form;
}
