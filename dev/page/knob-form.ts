/** Form of the page. It shows its knobs as a URL, so that every run can be linked to. */
import { type Problem, queryText } from '../bench/knob.js';
import { needsGpu, readKnobs } from '../bench/knobs.js';
import { isGpuOnly, type Mode, modeOf } from '../bench/modes.js';
import { knobsOf, type RunKnobName, withoutSide } from '../bench/run-knobs.js';
import { engineKnobs, isGpuKnob } from '../bench/settings.js';
import { copyButton } from './copy.js';
import { h, note } from './dom.js';
import { cpuQuery, NEEDS_GPU } from './gpu-here.js';
import { defaultsOf, engineFields, inGrid, options, runChoices, runFields, sideFieldset } from './knob-fields.js';
import { problemList } from './problems.js';

function noGpuFor(query: URLSearchParams, mode: Mode): Problem {
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
      if (!isGpuOnly(option.value as Mode)) continue;
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

  function modeNow(): Mode {
    return values().get('autorun') as Mode;
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
      const list = runChoices[name as RunKnobName];
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
    const lacksGpu = knobs !== null && !hasGpu && needsGpu(knobs);
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
