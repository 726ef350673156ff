/** Detects a missing GPU, explains it, and disables what needs one. */
import { type Problem, queryText } from '../bench/knob.js';
import { isSettingKnob, readKnobs, withoutSide } from '../bench/knobs.js';
import { isGpuKnob } from '../bench/settings.js';
import { h, note } from './dom.js';

/** Reason shown on disabled controls and links. */
export const NEEDS_GPU = 'Needs a GPU, and none is available';

let answer: Promise<string | null> | null = null;

/**
 * Returns why no MSM can run on a GPU here; null if WebGPU has an adapter. Asks once, and opens no
 * device.
 */
export function whyNoGpu(): Promise<string | null> {
  answer ??= ask();
  return answer;
}

async function ask(): Promise<string | null> {
  const gpu = navigator.gpu as GPU | undefined;
  if (gpu === undefined) {
    return isSecureContext
      ? 'This browser offers no WebGPU. Chrome and Edge from 113, Safari from 26 and Firefox from 141 offer it on most devices.'
      : 'Browsers offer WebGPU only on pages from https or localhost, and this page is from neither.';
  }
  const hasAdapter = async (): Promise<boolean> => {
    try {
      return (await gpu.requestAdapter()) !== null;
    } catch {
      // a browser that rejects the request has no adapter for the library either
      return false;
    }
  };
  if (await hasAdapter()) return null;
  return 'This browser offers WebGPU, but no adapter: the GPU may be blocked, or its driver too old. In Chrome, chrome://gpu shows the reason.';
}

const isOnCpu = (query: URLSearchParams): boolean => {
  const { knobs } = readKnobs(query);
  return knobs !== null && !knobs.opensGpu;
};

/** Returns whether the query sets a knob that only a GPU uses. */
const asksForGpu = (query: URLSearchParams): boolean =>
  [...query.keys()].some((name) => isSettingKnob(name) && isGpuKnob(withoutSide(name)));

/** Returns the query of the same run on the CPU; null if it would differ, or cannot run there. */
export function cpuQuery(query: URLSearchParams): URLSearchParams | null {
  if (isOnCpu(query)) return query;
  const asked = new URLSearchParams(query);
  for (const name of ['a.backend', 'b.backend']) asked.delete(name);
  asked.set('backend', 'cpu');
  return isOnCpu(asked) && !asksForGpu(asked) ? asked : null;
}

/** Makes the notice that explains why there is no GPU, and offers the CPU. */
export function missingGpu(why: string, query: URLSearchParams): HTMLElement {
  const offer = (): (Node | string)[] => {
    if (isOnCpu(query)) return ['This address runs on the CPU.'];
    const link = `?${queryText(cpuQuery(query) ?? new URLSearchParams({ backend: 'cpu' }))}`;
    return ['The library also runs on the CPU. ', h('a', { class: 'button', href: link }, 'Compute on the CPU')];
  };
  return h(
    'section',
    { class: 'caution no-gpu', 'aria-label': 'No GPU' },
    h('p', {}, h('strong', {}, 'No GPU is available. '), why),
    h('p', { class: 'buttons' }, ...offer()),
  );
}

/**
 * Rewrites links of a page without a GPU: to the CPU where it can answer; the others are disabled.
 */
export function offerCpu(links: Iterable<HTMLAnchorElement>): void {
  for (const link of links) {
    const onCpu = cpuQuery(new URLSearchParams(link.getAttribute('href') ?? ''));
    if (onCpu !== null) {
      link.href = `?${queryText(onCpu)}`;
      continue;
    }
    link.removeAttribute('href');
    // without an address it would not be announced as a link
    link.setAttribute('role', 'link');
    link.setAttribute('aria-disabled', 'true');
    link.title = NEEDS_GPU;
    link.append(h('small', { class: 'needs-gpu' }, 'Needs a GPU'));
  }
}

export const problemList = (problems: readonly Problem[]): HTMLElement =>
  h(
    'ul',
    { class: 'alert' },
    ...problems.map(({ text, instead }) => {
      const link = `?${instead && queryText(instead)}`;
      return h('li', {}, text, ...(instead ? [': ', h('a', { href: link }, link)] : []));
    }),
  );

/** Lists remarks that are not problems; null if there are none. */
export const noteList = (notes: readonly string[]): HTMLElement | null =>
  notes.length === 0 ? null : h('div', {}, ...notes.map((each) => note(each)));
