/** The form of the page. It writes the page's own URL: whatever it starts can be linked to. */
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { h } from './dom.js';
import { type KnobName, knobHelp, modes } from './knobs.js';

type Choices = Readonly<Record<string, string>>;

const about = (distributions: Readonly<Record<string, { readonly about: string }>>): Choices =>
  Object.fromEntries(Object.entries(distributions).map(([name, { about: line }]) => [name, `${name}: ${line}`]));

const labels: Readonly<Record<KnobName, string>> = {
  autorun: 'What to run',
  logn: 'Sizes, log₂ n',
  n: 'Other sizes',
  reps: 'Repetitions',
  seed: 'Seed',
  points: 'Points',
  scalars: 'Scalars',
  case: 'Cases',
  walkerpriv: 'Walker scratch',
  walkertpb: 'Walker threads',
  walkers: 'Walker slots',
  fieldcarry: 'Carries',
  c: 'Window bits',
  chains: 'Chains',
  variants: 'Products',
  cpubelow: 'Small ones on the CPU',
  checks: 'Checks',
};

function field(name: KnobName, control: HTMLInputElement | HTMLSelectElement, serial = 0): HTMLElement {
  const id = `knob-${name}${serial === 0 ? '' : `-${serial}`}`;
  control.id = id;
  control.name = name;
  control.setAttribute('aria-describedby', `${id}-help`);
  return h(
    'div',
    { class: `field field-${name}` },
    h('label', { for: id }, labels[name], ' ', h('code', {}, name)),
    control,
    h('small', { id: `${id}-help` }, knobHelp[name]),
  );
}

function select(query: URLSearchParams, name: KnobName, choices: Choices, unset: string | null): HTMLElement {
  const now = query.get(name) ?? '';
  return field(
    name,
    h(
      'select',
      {},
      unset === null ? null : h('option', { value: '' }, unset),
      ...Object.entries(choices).map(([value, text]) => h('option', { value, selected: value === now }, text)),
    ),
  );
}

function input(query: URLSearchParams, name: KnobName, placeholder: string, numeric = true): HTMLElement {
  return field(
    name,
    h('input', {
      type: 'text',
      placeholder,
      value: query.get(name) ?? '',
      inputmode: numeric ? 'numeric' : 'text',
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
    }),
  );
}

export function knobForm(query: URLSearchParams): HTMLFormElement {
  const cases = query.getAll('case');
  const form = h(
    'form',
    { method: 'get', 'aria-labelledby': 'form-title' },
    h('h2', { id: 'form-title' }, 'Knobs'),
    h(
      'p',
      { class: 'note' },
      'Each is a parameter of the URL. One that does not exist, or a value that it cannot have, is refused by name.',
    ),
    h(
      'div',
      { class: 'fields' },
      select(query, 'autorun', modes, null),
      input(query, 'logn', '12', false),
      input(query, 'n', '1000,4097', false),
      select(query, 'points', about(pointDistributions), 'distinct (default)'),
      select(query, 'scalars', about(scalarDistributions), 'random (default)'),
      ...(cases.length === 0 ? [''] : cases).map((value, i) =>
        field(
          'case',
          h('input', { type: 'text', placeholder: 'core', value, autocomplete: 'off', spellcheck: 'false' }),
          i,
        ),
      ),
      input(query, 'reps', '5'),
      input(query, 'seed', '1'),
      input(query, 'chains', '1,4', false),
      select(query, 'variants', { library: 'the library’s', all: 'all' }, 'default'),
    ),
    h(
      'fieldset',
      {},
      h('legend', {}, 'Tuning'),
      h(
        'p',
        { class: 'note' },
        'No tuning changes the result, only what it costs. Left empty, the engine chooses for n and for your device.',
      ),
      h(
        'div',
        { class: 'fields' },
        select(
          query,
          'walkerpriv',
          { '1': 'private memory', '0': 'workgroup memory', turns: 'one of them, in turns' },
          'default',
        ),
        input(query, 'walkertpb', 'default'),
        input(query, 'walkers', 'default'),
        select(query, 'fieldcarry', { shift: 'shifts', float: 'floats' }, 'default'),
        input(query, 'c', 'default'),
        input(query, 'cpubelow', '0'),
        select(query, 'checks', { '1': 'on' }, 'off'),
      ),
    ),
    h('button', { type: 'submit', class: 'primary' }, 'Run'),
  );
  form.addEventListener('formdata', ({ formData }) => {
    // What is left empty stays out of the URL, where an empty knob would be refused.
    const filled = [...formData].filter(([, value]) => value !== '');
    for (const name of [...formData.keys()]) formData.delete(name);
    for (const [name, value] of filled) formData.append(name, value);
  });
  return form;
}
