/** The form with all knobs of a run. */
import { defaultBudget } from '../../src/msm/plan/device-profiles.js';
import { commonKnobs, type KnobText, type Problem, queryText } from '../bench/knob.js';
import { knobsOf, knobText, readKnobs, runKnobs, suggestedMode, withoutSide } from '../bench/knobs.js';
import { isGpuOnly, modeOf, pageModeNames } from '../bench/modes.js';
import { engineKnobs, isGpuKnob, makeSetting } from '../bench/settings.js';
import { defaultCurve, defaultEncoding, defaultGroup } from '../cases/address.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { type CurveGroup, curveNames, groupsOf } from '../oracle/curves.js';
import { encodingsOf } from '../oracle/encodings.js';
import { copyButton, h, note } from './dom.js';
import { cpuQuery, NEEDS_GPU, problemList } from './gpu-here.js';

type Defaults = Readonly<Record<string, string>>;

/** Returns the defaults of the knobs of a run by name. */
const defaultsOf = (mode: string): Defaults =>
  Object.fromEntries(Object.keys(runKnobs).map((name) => [name, knobText(mode, name).unset]));

const { precompute, verify, checks, tuning } = makeSetting(new Map());

/** Defaults of the engine's knobs by name. The engine chooses the others by size and device. */
const engineDefaults: Defaults = {
  precompute: String(precompute),
  budget: String(defaultBudget({ vendor: '', architecture: '' }) / 2 ** 20),
  verify: String(Number(verify)),
  checks: String(Number(checks)),
  backend: 'gpu',
  cpubelow: String(tuning.cpuBelow),
};

type Choices = Readonly<Record<string, string>>;
type ChoicesFor = Choices | ((query: URLSearchParams) => Choices);

const about = (entries: Readonly<Record<string, { readonly about: string }>>): Choices =>
  Object.fromEntries(Object.entries(entries).map(([name, { about: line }]) => [name, `${name}: ${line}`]));

const groups: Choices = { g1: 'g1', g2: 'g2' };

/** Returns the encodings of the curve and group of a query; invalid names count as the default. */
const encodingChoices = (query: URLSearchParams): Choices => {
  const curve = curveNames.find((name) => name === query.get('curve')) ?? defaultCurve;
  const group = groupsOf(curve).find((name) => name === query.get('group')) ?? defaultGroup;
  const of: CurveGroup = { curve, group };
  return Object.fromEntries(encodingsOf(of).map((name) => [name, name]));
};

/** Knobs of a run with a list of choices, and the text of the empty choice. */
const runChoices: Partial<Record<string, { readonly choices: ChoicesFor; readonly unset: string | null }>> = {
  autorun: {
    choices: Object.fromEntries(pageModeNames.map((mode) => [mode, modeOf(mode).title])),
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
};

type Control = HTMLInputElement | HTMLSelectElement;
type Field = ReturnType<typeof makeField>;

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

    /** Shows the field, or hides and disables it, so that it is not sent. */
    show(isShown: boolean): void {
      root.hidden = !isShown;
      control.disabled = !isShown || isGreyed;
    },

    /** Marks the field with problems; without any, removes the mark. */
    mark(texts: readonly string[]): void {
      const isWrong = texts.length > 0;
      mistake.hidden = !isWrong;
      mistake.textContent = texts.join(' ');
      if (isWrong) control.setAttribute('aria-invalid', 'true');
      else control.removeAttribute('aria-invalid');
      control.setAttribute('aria-describedby', isWrong ? `${mistake.id} ${small.id}` : small.id);
    },

    /** Disables the field, with the reason as its tooltip. */
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
  Object.keys(runKnobs).flatMap((name) => {
    const values = query.getAll(name);
    return (values.length === 0 ? [''] : values).map((value, i) => {
      const list = runChoices[name];
      const initial = name === 'autorun' && value === '' ? suggestedMode(query) : value;
      const control = list ? select(choicesOf(list.choices, query), list.unset, initial) : input('', value);
      return makeField(name, runKnobs[name] as KnobText, control, i);
    });
  });

/** Longest list of values that fits into a placeholder; the help of the knob names longer ones. */
const LONGEST_VALUES = 18;

/** Makes the fields of the engine, for both sides or for one. */
const engineFields = (query: URLSearchParams, side: '' | 'a.' | 'b.'): Field[] => [
  ...Object.entries(engineKnobs).map(([name, knob]) => {
    const values = 'words' in knob ? Object.keys(knob.words).join(' or ') : knob.range.join(' to ');
    const initial = engineDefaults[name] ?? 'automatic';
    const placeholder = values.length > LONGEST_VALUES ? initial : `${initial} (${values})`;
    return makeField(side + name, knob, input(placeholder, query.get(side + name) ?? ''));
  }),
  ...(side === '' ? [] : [groupField(query, side)]),
];

/** Makes the field for the group of one side of a comparison. */
const groupField = (query: URLSearchParams, side: 'a.' | 'b.'): Field => {
  const name = `${side}group`;
  return makeField(name, commonKnobs.group, select(groups, 'the common group', query.get(name) ?? ''));
};

const inGrid = (fields: readonly Field[]): HTMLElement =>
  h('div', { class: 'fields' }, ...fields.map(({ root }) => root));

const sideFieldset = (side: 'A' | 'B', fields: readonly Field[]): HTMLFieldSetElement =>
  h('fieldset', {}, h('legend', {}, side), note(`Knobs that apply to ${side} only.`), inGrid(fields));

function noGpuFor(query: URLSearchParams, mode: string): Problem {
  const instead = cpuQuery(query);
  return isGpuOnly(mode)
    ? { knob: 'autorun', text: `autorun: ${mode} needs a GPU, and none is available`, instead }
    : { knob: 'backend', text: 'backend: no GPU is available; use cpu', instead };
}

const TUNING_NOTE =
  'Tuning changes the cost, never the result. Empty fields leave the choice to the engine, which decides by n and device. A sweep also takes lists: 32,64,128 or 8..12.';

const isSet = (query: URLSearchParams): boolean =>
  Object.keys(engineKnobs).some((name) => (query.get(name) ?? '') !== '');

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Id of the form, for buttons outside it. */
export const FORM_ID = 'knobs';

export type KnobForm = ReturnType<typeof knobForm>;

/**
 * @param query query with every knob spelled out
 * @param mistakes problems of the address, whose fields are marked from the start
 */
export function knobForm(query: URLSearchParams, mistakes: readonly Problem[] = []) {
  const address = h('a', { class: 'address', href: './' });
  const trouble = h('div', { role: 'status', hidden: true });
  let hasGpu = true;
  const run = runFields(query);
  const common = engineFields(query, '');
  const [a, b] = [engineFields(query, 'a.'), engineFields(query, 'b.')];
  const sides = [...a, ...b];
  const sideFieldsets = [sideFieldset('A', a), sideFieldset('B', b)];
  const commonFieldset = h('fieldset', {}, note(TUNING_NOTE), inGrid(common));
  const tuning = h('details', { open: isSet(query) }, h('summary', {}, 'Tuning'), commonFieldset);
  const root = makeRoot();

  /** Disables what needs a GPU. */
  function withoutGpu(): void {
    hasGpu = false;
    for (const field of [...sides, ...common]) {
      if (isGpuKnob(withoutSide(field.name))) field.grey(NEEDS_GPU);
    }
    const mode = run.find(({ name }) => name === 'autorun')?.control as HTMLSelectElement;
    for (const option of mode.options) {
      if (!isGpuOnly(option.value)) continue;
      // a form does not send a choice that is disabled
      option.disabled = !option.selected;
      option.title = NEEDS_GPU;
      option.textContent += ' (needs a GPU)';
    }
    mirror();
    markMistakes();
  }

  function makeRoot(): HTMLFormElement {
    const copy = copyButton('Copy the link', () => address.href);
    return h(
      'form',
      { id: FORM_ID, 'aria-labelledby': 'form-title' },
      h('h2', { id: 'form-title' }, 'Knobs'),
      note('Each knob is a parameter of the URL. Invalid values are rejected with an explanation.'),
      inGrid(run),
      ...sideFieldsets,
      tuning,
      h('div', { class: 'buttons' }, h('small', {}, 'Link to this run:'), address),
      trouble,
      h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'primary' }, 'Run'), copy),
    );
  }

  function values(): URLSearchParams {
    const filled = new URLSearchParams();
    for (const [name, value] of new FormData(root)) if (value !== '') filled.append(name, String(value));
    return filled;
  }

  function modeNow(): string {
    return values().get('autorun') as string;
  }

  function onInput(id: string): void {
    if (id === 'knob-autorun') adjust();
    if (id === 'knob-curve' || id === 'knob-group') relist();
    mirror();
  }

  /**
   * Opens the address instead of submitting the form, which would keep the fragment and send empty
   * fields.
   */
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    mirror();
    unfold();
    if (trouble.hidden) {
      location.assign(address.href);
      return;
    }
    trouble.scrollIntoView({ block: 'nearest' });
    root.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }

  function adjust(): void {
    const mode = modeNow();
    const known = knobsOf(mode);
    const defaults = defaultsOf(mode);
    for (const { name, small, control } of run) {
      if (name === 'autorun') small.textContent = sentence(modeOf(mode).about);
      if (control instanceof HTMLInputElement) control.placeholder = defaults[name] ?? '';
    }
    for (const field of [...run, ...common]) field.show(known.includes(field.name));
    for (const side of sideFieldsets) {
      side.hidden = mode !== 'accum-ab';
      side.disabled = side.hidden;
    }
    tuning.hidden = common.every(({ root }) => root.hidden);
    tuning.open ||= mode === 'sweep';
  }

  /** Updates choices that depend on other fields. A choice that is still offered stays. */
  function relist(): void {
    for (const { name, control } of run) {
      const list = runChoices[name];
      if (typeof list?.choices !== 'function') continue;
      control.replaceChildren(...options(list.choices(values()), list.unset, control.value));
    }
  }

  /** Updates the address, and shows its problems. */
  function mirror(): void {
    const now = values();
    const text = `?${queryText(now)}`;
    address.href = text;
    address.textContent = text;
    const { knobs, problems: mistyped } = readKnobs(now);
    const lacksGpu = knobs !== null && !hasGpu && knobs.opensGpu;
    const problems = lacksGpu ? [noGpuFor(now, modeNow())] : mistyped;
    trouble.hidden = problems.length === 0;
    trouble.replaceChildren(problemList(problems));
    mark(problems);
  }

  function mark(problems: readonly Problem[]): void {
    for (const field of [...run, ...sides, ...common]) {
      field.mark(problems.filter(({ knob }) => knob === field.name).map(({ text }) => text));
    }
  }

  function unfold(): void {
    tuning.open ||= common.some(({ control }) => control.hasAttribute('aria-invalid'));
  }

  /** Marks the fields of a wrong address. The top of the page lists its problems. */
  function markMistakes(): void {
    trouble.hidden = true;
    mark(mistakes);
    unfold();
  }
  root.addEventListener('input', (event) => onInput((event.target as HTMLElement).id));
  root.addEventListener('submit', (event) => onSubmit(event));
  adjust();
  mirror();
  markMistakes();
  return { root, withoutGpu };
}
