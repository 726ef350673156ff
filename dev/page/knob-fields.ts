/** Fields of the form of the page. */
import { defaultBudget } from '../../src/msm/plan/device-profiles.js';
import { commonKnobs } from '../bench/common-knobs.js';
import type { KnobText } from '../bench/knob.js';
import { suggestedMode } from '../bench/knobs.js';
import { type Mode, modeOf, pageModeNames } from '../bench/modes.js';
import { knobText, type RunKnobName, runKnobs } from '../bench/run-knobs.js';
import { engineKnobs, makeSetting } from '../bench/settings.js';
import { defaultCurve, defaultEncoding, defaultGroup } from '../cases/address.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { type CurveGroup, curveNames, groupsOf } from '../oracle/curves.js';
import { encodingsOf } from '../oracle/encodings.js';
import { h, note } from './dom.js';

type Defaults = Readonly<Record<string, string>>;

/** Returns the defaults of the knobs of a run by name. */
export const defaultsOf = (mode: Mode): Defaults =>
  Object.fromEntries(Object.keys(runKnobs).map((name) => [name, knobText(mode, name).unset]));

const { precompute, verify, checks, tuning } = makeSetting(new Map());

/** Defaults of the engine's knobs by name. The engine chooses the others by size and device. */
export const engineDefaults: Defaults = {
  precompute: String(precompute),
  budget: String(defaultBudget({ vendor: '', architecture: '' }) / 2 ** 20),
  verify: String(Number(verify)),
  checks: String(Number(checks)),
  backend: 'gpu',
  cpubelow: String(tuning.cpuBelow),
};

export type Choices = Readonly<Record<string, string>>;
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
export const runChoices: Partial<Record<RunKnobName, { readonly choices: ChoicesFor; readonly unset: string | null }>> =
  {
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
    mix: { choices: { prover: 'sums of a prover', small: 'small sums' }, unset: 'prover (default)' },
  };

type Control = HTMLInputElement | HTMLSelectElement;
export type Field = ReturnType<typeof makeField>;

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

export const options = (choices: Choices, unset: string | null, now: string): HTMLOptionElement[] => [
  ...(unset === null ? [] : [h('option', { value: '' }, unset)]),
  ...Object.entries(choices).map(([value, text]) => h('option', { value, selected: value === now }, text)),
];

const select = (...of: Parameters<typeof options>): HTMLSelectElement => h('select', {}, ...options(...of));

export const choicesOf = (choices: ChoicesFor, query: URLSearchParams): Choices =>
  typeof choices === 'function' ? choices(query) : choices;

const input = (placeholder: string, value: string): HTMLInputElement =>
  h('input', { type: 'text', placeholder, value, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });

export const runFields = (query: URLSearchParams): Field[] =>
  (Object.keys(runKnobs) as RunKnobName[]).flatMap((name) => {
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
export const engineFields = (query: URLSearchParams, side: '' | 'a.' | 'b.'): Field[] => [
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

export const inGrid = (fields: readonly Field[]): HTMLElement =>
  h('div', { class: 'fields' }, ...fields.map(({ root }) => root));

export const sideFieldset = (side: 'A' | 'B', fields: readonly Field[]): HTMLFieldSetElement =>
  h('fieldset', {}, h('legend', {}, side), note(`Knobs that apply to ${side} only.`), inGrid(fields));
