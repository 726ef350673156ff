/** Form of the page. It shows its knobs as a URL, so that every run can be linked to. */

import { type Problem, queryText } from '../bench/knob.js';
import { needsGpu, readKnobs } from '../bench/knobs.js';
import { isGpuOnly, type Mode, modeOf } from '../bench/modes.js';
import { knobsOf, type RunKnobName, withoutSide } from '../bench/run-knobs.js';
import { engineKnobs, isGpuKnob } from '../bench/settings.js';
import { copyButton } from './copy.js';
import { h, note } from './dom.js';
import { cpuQuery, NEEDS_GPU } from './gpu-here.js';
import {
  defaultsOf,
  engineFields,
  type Field,
  inGrid,
  options,
  runChoices,
  runFields,
  sideFieldset,
} from './knob-fields.js';
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

export class KnobForm {
  readonly root: HTMLFormElement;
  readonly #mistakes: readonly Problem[];
  readonly #run: readonly Field[];
  readonly #common: readonly Field[];
  readonly #sides: readonly Field[];
  readonly #sideFieldsets: readonly HTMLFieldSetElement[];
  readonly #tuning: HTMLDetailsElement;
  readonly #address = h('a', { class: 'address', href: './' });
  readonly #trouble = h('div', { role: 'status', hidden: true });
  #hasGpu = true;

  /**
   * @param query query with every knob spelled out
   * @param mistakes problems of the address, whose fields are marked from the start
   */
  constructor(query: URLSearchParams, mistakes: readonly Problem[] = []) {
    this.#mistakes = mistakes;
    this.#run = runFields(query);
    this.#common = engineFields(query, '');
    const [a, b] = [engineFields(query, 'a.'), engineFields(query, 'b.')];
    this.#sides = [...a, ...b];
    this.#sideFieldsets = [sideFieldset('A', a), sideFieldset('B', b)];
    const common = h('fieldset', {}, note(TUNING_NOTE), inGrid(this.#common));
    this.#tuning = h('details', { open: isSet(query) }, h('summary', {}, 'Tuning'), common);
    this.root = this.#makeRoot();
    this.root.addEventListener('input', (event) => this.#onInput((event.target as HTMLElement).id));
    this.root.addEventListener('submit', (event) => this.#onSubmit(event));
    this.#adjust();
    this.#mirror();
    this.#markMistakes();
  }

  /** Disables what needs a GPU. */
  withoutGpu(): void {
    this.#hasGpu = false;
    for (const field of [...this.#sides, ...this.#common]) {
      if (isGpuKnob(withoutSide(field.name))) field.grey(NEEDS_GPU);
    }
    const mode = this.#run.find(({ name }) => name === 'autorun')?.control as HTMLSelectElement;
    for (const option of mode.options) {
      if (!isGpuOnly(option.value as Mode)) continue;
      // a form does not send a choice that is disabled
      option.disabled = !option.selected;
      option.title = NEEDS_GPU;
      option.textContent += ' (needs a GPU)';
    }
    this.#mirror();
    this.#markMistakes();
  }

  #makeRoot(): HTMLFormElement {
    const copy = copyButton('Copy the link', () => this.#address.href);
    return h(
      'form',
      { id: FORM_ID, 'aria-labelledby': 'form-title' },
      h('h2', { id: 'form-title' }, 'Knobs'),
      note('Each knob is a parameter of the URL. Invalid values are rejected with an explanation.'),
      inGrid(this.#run),
      ...this.#sideFieldsets,
      this.#tuning,
      h('div', { class: 'buttons' }, h('small', {}, 'Link to this run:'), this.#address),
      this.#trouble,
      h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'primary' }, 'Run'), copy),
    );
  }

  #values(): URLSearchParams {
    const filled = new URLSearchParams();
    for (const [name, value] of new FormData(this.root)) if (value !== '') filled.append(name, String(value));
    return filled;
  }

  #mode(): Mode {
    return this.#values().get('autorun') as Mode;
  }

  #onInput(id: string): void {
    if (id === 'knob-autorun') this.#adjust();
    if (id === 'knob-curve' || id === 'knob-group') this.#relist();
    this.#mirror();
  }

  /**
   * Opens the address instead of submitting the form, which would keep the fragment and send empty
   * fields.
   */
  #onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    this.#mirror();
    this.#unfold();
    if (this.#trouble.hidden) {
      location.assign(this.#address.href);
      return;
    }
    this.#trouble.scrollIntoView({ block: 'nearest' });
    this.root.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }

  #adjust(): void {
    const mode = this.#mode();
    const known = knobsOf(mode);
    const defaults = defaultsOf(mode);
    for (const { name, small, control } of this.#run) {
      if (name === 'autorun') small.textContent = sentence(modeOf(mode).about);
      if (control instanceof HTMLInputElement) control.placeholder = defaults[name] ?? '';
    }
    for (const field of [...this.#run, ...this.#common]) field.show(known.includes(field.name));
    for (const side of this.#sideFieldsets) {
      side.hidden = mode !== 'accum-ab';
      side.disabled = side.hidden;
    }
    this.#tuning.hidden = this.#common.every(({ root }) => root.hidden);
    this.#tuning.open ||= mode === 'sweep';
  }

  /** Updates choices that depend on other fields. A choice that is still offered stays. */
  #relist(): void {
    for (const { name, control } of this.#run) {
      const list = runChoices[name as RunKnobName];
      if (typeof list?.choices !== 'function') continue;
      control.replaceChildren(...options(list.choices(this.#values()), list.unset, control.value));
    }
  }

  /** Updates the address, and shows its problems. */
  #mirror(): void {
    const now = this.#values();
    const text = `?${queryText(now)}`;
    this.#address.href = text;
    this.#address.textContent = text;
    const { knobs, problems: mistyped } = readKnobs(now);
    const lacksGpu = knobs !== null && !this.#hasGpu && needsGpu(knobs);
    const problems = lacksGpu ? [noGpuFor(now, this.#mode())] : mistyped;
    this.#trouble.hidden = problems.length === 0;
    this.#trouble.replaceChildren(problemList(problems));
    this.#mark(problems);
  }

  #mark(problems: readonly Problem[]): void {
    for (const field of [...this.#run, ...this.#sides, ...this.#common]) {
      field.mark(problems.filter(({ knob }) => knob === field.name).map(({ text }) => text));
    }
  }

  #unfold(): void {
    this.#tuning.open ||= this.#common.some(({ control }) => control.hasAttribute('aria-invalid'));
  }

  /** Marks the fields of a wrong address. The top of the page lists its problems. */
  #markMistakes(): void {
    this.#trouble.hidden = true;
    this.#mark(this.#mistakes);
    this.#unfold();
  }
}
