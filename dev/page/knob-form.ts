/** The form of the page. What it says stands as a URL beside it: whatever it starts can be linked to. */
import { knobsOf, withoutSide } from '../bench/knob-names.js';
import { type Problem, queryText } from '../bench/knob-problems.js';
import { needsGpu, readKnobs, suggestedMode } from '../bench/knobs.js';
import { isGpuOnly, type Mode, modes, pageModeNames } from '../bench/modes.js';
import { type RunKnobName, runKnobs } from '../bench/run-knobs.js';
import { engineKnobs, isGpuKnob } from '../bench/settings.js';
import { defaultCurve, defaultEncoding, defaultGroup } from '../cases/address.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { type CurveGroup, curveNames, groupsOf } from '../oracle/curves.js';
import { encodingsOf } from '../oracle/encodings.js';
import { copyButton } from './copy.js';
import { h, note } from './dom.js';
import { cpuQuery, NEEDS_GPU } from './gpu-here.js';
import { problemList } from './problems.js';

type Choices = Readonly<Record<string, string>>;
/** Some are those of what else the query says. */
type ChoicesFor = Choices | ((query: URLSearchParams) => Choices);

const about = (entries: Readonly<Record<string, { readonly about: string }>>): Choices =>
  Object.fromEntries(Object.entries(entries).map(([name, { about: line }]) => [name, `${name}: ${line}`]));

const groups: Choices = { g1: 'g1', g2: 'g2' };

/** Of what a query names; of what it names wrongly, of the default. */
const encodingChoices = (query: URLSearchParams): Choices => {
  const curve = curveNames.find((name) => name === query.get('curve')) ?? defaultCurve;
  const group = groupsOf(curve).find((name) => name === query.get('group')) ?? defaultGroup;
  const of: CurveGroup = { curve, group };
  return Object.fromEntries(encodingsOf(of).map((name) => [name, name]));
};

/** The run knobs that have a list to choose from, and what is written where nothing is chosen. */
const runChoices: Partial<Record<RunKnobName, { readonly choices: ChoicesFor; readonly unset: string | null }>> = {
  autorun: {
    choices: Object.fromEntries(pageModeNames.map((mode) => [mode, modes[mode].title])),
    unset: null,
  },
  curve: {
    choices: Object.fromEntries(curveNames.map((name) => [name, name])),
    unset: `${defaultCurve} (default)`,
  },
  group: { choices: groups, unset: `${defaultGroup} (default)` },
  encoding: { choices: encodingChoices, unset: `${defaultEncoding} (default)` },
  points: { choices: about(pointDistributions), unset: 'distinct (default)' },
  scalars: { choices: about(scalarDistributions), unset: 'random (default)' },
  mix: { choices: { prover: 'a prover’s', small: 'small ones' }, unset: 'default' },
  variants: { choices: { library: 'the library’s', all: 'all' }, unset: 'default' },
};

type Control = HTMLInputElement | HTMLSelectElement;
type Field = ReturnType<typeof makeField>;

/** A control with its label, its help, and what is wrong with its value. */
function makeField(name: string, { label, help }: { label: string; help: string }, control: Control, serial = 0) {
  control.id = `knob-${name}${serial === 0 ? '' : `-${serial}`}`;
  control.name = name;
  const small = h('small', { id: `${control.id}-help` }, help);
  const mistake = h('small', { id: `${control.id}-mistake`, class: 'wrong', hidden: true });
  control.setAttribute('aria-describedby', small.id);
  const title = h('label', { for: control.id }, label, ' ', h('code', {}, name));
  const root = h('div', { class: 'field' }, title, control, mistake, small);
  let isGreyed = false;
  return {
    ...{ name, control, small, root },

    /** Hides fields, and disables them, so that they are not sent. */
    show(isShown: boolean): void {
      root.hidden = !isShown;
      control.disabled = !isShown || isGreyed;
    },

    /** Marks the field with what is wrong; with nothing, takes the mark away. */
    mark(texts: readonly string[]): void {
      const isWrong = texts.length > 0;
      mistake.hidden = !isWrong;
      mistake.textContent = texts.join(' ');
      if (isWrong) control.setAttribute('aria-invalid', 'true');
      else control.removeAttribute('aria-invalid');
      control.setAttribute('aria-describedby', isWrong ? `${mistake.id} ${small.id}` : small.id);
    },

    /** Takes it out of use, and says why. */
    grey(why: string): void {
      isGreyed = true;
      control.disabled = true;
      root.classList.add('greyed');
      root.title = why;
      small.textContent = `Needs a GPU. ${help}`;
    },
  };
}

const options = (choices: Choices, unset: string | null, now: string): HTMLOptionElement[] => [
  ...(unset === null ? [] : [h('option', { value: '' }, unset)]),
  ...Object.entries(choices).map(([value, text]) => h('option', { value, selected: value === now }, text)),
];

const select = (...of: Parameters<typeof options>): HTMLSelectElement => h('select', {}, ...options(...of));

const choicesOf = (choices: ChoicesFor, query: URLSearchParams): Choices =>
  typeof choices === 'function' ? choices(query) : choices;

const input = (placeholder: string, value: string): HTMLInputElement =>
  h('input', { type: 'text', placeholder, value, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });

const runFields = (query: URLSearchParams): Field[] =>
  (Object.keys(runKnobs) as RunKnobName[]).flatMap((name) => {
    const values = query.getAll(name);
    return (values.length === 0 ? [''] : values).map((value, i) => {
      const list = runChoices[name];
      const initial = name === 'autorun' && value === '' ? suggestedMode(query) : value;
      const control = list ? select(choicesOf(list.choices, query), list.unset, initial) : input('', value);
      return makeField(name, runKnobs[name], control, i);
    });
  });

/** Those of the engine, for both sides or for one. */
const engineFields = (query: URLSearchParams, side: '' | 'a.' | 'b.'): Field[] => [
  ...Object.entries(engineKnobs).map(([name, knob]) => {
    const values = 'words' in knob ? Object.keys(knob.words).join(' or ') : knob.range.join(' to ');
    return makeField(side + name, knob, input(values, query.get(side + name) ?? ''));
  }),
  ...(side === '' ? [] : [groupField(query, side)]),
];

/** A side of a comparison may be in a group of its own. */
const groupField = (query: URLSearchParams, side: 'a.' | 'b.'): Field => {
  const name = `${side}group`;
  return makeField(name, runKnobs.group, select(groups, 'that of both', query.get(name) ?? ''));
};

const inGrid = (fields: readonly Field[]): HTMLElement =>
  h('div', { class: 'fields' }, ...fields.map(({ root }) => root));

/** What only one side of a comparison has. */
const sideFieldset = (side: 'A' | 'B', other: 'A' | 'B', fields: readonly Field[]): HTMLFieldSetElement =>
  h('fieldset', {}, h('legend', {}, side), note(`What ${side} has, and ${other} has not.`), inGrid(fields));

/** Reason shown for a run that needs a GPU where there is none. */
function noGpuFor(query: URLSearchParams, mode: Mode): Problem {
  const instead = cpuQuery(query);
  return isGpuOnly(mode)
    ? { knob: 'autorun', text: `autorun: ${mode} needs a GPU, and there is none here`, instead }
    : { knob: 'backend', text: 'backend: there is no GPU here; cpu does without', instead };
}

const NO_DIFFERENCE =
  'No tuning changes the result, only what it costs. Left empty, the engine chooses for n and for your device. In a sweep any of them may be a list: 32,64,128 or 8..12.';

/** Whether any knob of the engine is, for all sides. */
const isSet = (query: URLSearchParams): boolean =>
  Object.keys(engineKnobs).some((name) => (query.get(name) ?? '') !== '');

/** For buttons outside it. */
export const FORM_ID = 'knobs';

export interface KnobForm {
  readonly root: HTMLFormElement;
  /** Takes what needs a GPU out of use, as there is none. */
  withoutGpu(): void;
}

/**
 * @param query with every knob spelled out
 * @param mistakes of the address: their fields are marked from the beginning
 */
export function knobForm(query: URLSearchParams, mistakes: readonly Problem[] = []): KnobForm {
  const run = runFields(query);
  const [ofA, ofB, ofBoth] = [engineFields(query, 'a.'), engineFields(query, 'b.'), engineFields(query, '')];
  const fields = [...run, ...ofA, ...ofB, ...ofBoth];
  const sides = [sideFieldset('A', 'B', ofA), sideFieldset('B', 'A', ofB)];
  const common = h('fieldset', {}, note(NO_DIFFERENCE), inGrid(ofBoth));
  const tuning = h('details', { open: isSet(query) }, h('summary', {}, 'Tuning'), common);
  const address = h('a', { class: 'address', href: './' });
  const trouble = h('div', { role: 'status', hidden: true });
  const copy = copyButton('Copy the link', () => address.href);
  const form = h(
    'form',
    { id: FORM_ID, 'aria-labelledby': 'form-title' },
    h('h2', { id: 'form-title' }, 'Knobs'),
    note('Each is a parameter of the URL. A value that it cannot have is refused by name.'),
    h('div', { class: 'fields' }, ...run.map(({ root }) => root)),
    ...sides,
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
  const modeControl = run.find(({ name }) => name === 'autorun')?.control as HTMLSelectElement;
  const modeOf = (): Mode => values().get('autorun') as Mode;

  /** Shows the knobs that mean something to the mode. */
  const adjust = (): void => {
    const mode = modeOf();
    const known = knobsOf(mode);
    for (const { name, small } of run) if (name === 'autorun') small.textContent = modes[mode].about;
    for (const field of [...run, ...ofBoth]) field.show(known.includes(field.name));
    for (const side of sides) {
      side.hidden = mode !== 'accum-ab';
      side.disabled = side.hidden;
    }
    tuning.hidden = ofBoth.every(({ root }) => root.hidden);
    tuning.open ||= mode === 'sweep';
  };

  /** Lists what there is to choose from anew, where that depends on what else was chosen; a choice that is still there stays. */
  const relist = (): void => {
    for (const { name, control } of run) {
      const list = runChoices[name as RunKnobName];
      if (typeof list?.choices !== 'function') continue;
      control.replaceChildren(...options(list.choices(values()), list.unset, control.value));
    }
  };

  let hasGpu = true;

  const mark = (problems: readonly Problem[]): void => {
    for (const field of fields) {
      field.mark(problems.filter(({ knob }) => knob === field.name).map(({ text }) => text));
    }
  };

  /** Unfolds what has a mark in it. */
  const unfold = (): void => {
    tuning.open ||= ofBoth.some(({ control }) => control.hasAttribute('aria-invalid'));
  };

  const mirror = (): void => {
    const now = values();
    const text = `?${queryText(now)}`;
    address.href = text;
    address.textContent = text;
    const { knobs, problems: mistyped } = readKnobs(now);
    const problems = knobs !== null && !hasGpu && needsGpu(knobs) ? [noGpuFor(now, modeOf())] : mistyped;
    trouble.hidden = problems.length === 0;
    trouble.replaceChildren(problemList(problems));
    mark(problems);
  };

  form.addEventListener('input', (event) => {
    const { id } = event.target as HTMLElement;
    if (id === 'knob-autorun') adjust();
    if (id === 'knob-curve' || id === 'knob-group') relist();
    mirror();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    mirror();
    unfold();
    // not the form's own way, which keeps the fragment and sends what was left empty
    if (trouble.hidden) location.assign(address.href);
    else trouble.scrollIntoView({ block: 'nearest' });
  });
  /** Marks the fields of a wrong address; the top of the page says how it is wrong. */
  const leaveToTheTop = (): void => {
    trouble.hidden = true;
    mark(mistakes);
    unfold();
  };
  adjust();
  mirror();
  leaveToTheTop();

  return {
    root: form,
    withoutGpu() {
      hasGpu = false;
      for (const field of [...ofA, ...ofB, ...ofBoth]) {
        if (isGpuKnob(withoutSide(field.name))) field.grey(NEEDS_GPU);
      }
      for (const option of modeControl.options) {
        if (!isGpuOnly(option.value as Mode)) continue;
        // a form does not send what is chosen and disabled
        option.disabled = !option.selected;
        option.title = NEEDS_GPU;
        option.textContent += ' (needs a GPU)';
      }
      mirror();
      leaveToTheTop();
    },
  };
}
