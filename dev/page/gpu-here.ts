/** Whether there is a GPU here, what to do without one, and what is then out of reach. */
import { isSettingKnob, withoutSide } from '../bench/knob-names.js';
import { queryText } from '../bench/knob-problems.js';
import { needsGpu, readKnobs } from '../bench/knobs.js';
import { isGpuKnob } from '../bench/settings.js';
import { h } from './dom.js';

/** The reason that greyed controls and links give. */
export const NEEDS_GPU = 'Needs a GPU, and there is none here';

let answer: Promise<string | null> | null = null;

/** Why no MSM can run on a GPU here; null where WebGPU has an adapter. Asks once, and opens no device. */
export function whyNoGpu(): Promise<string | null> {
  answer ??= ask();
  return answer;
}

async function ask(): Promise<string | null> {
  const gpu = navigator.gpu as GPU | undefined;
  if (gpu === undefined) {
    return isSecureContext
      ? 'This browser offers no WebGPU. Chrome and Edge from 113 on, Safari from 26 on and Firefox from 141 on do, on most devices.'
      : 'Browsers offer WebGPU only to pages from https or from localhost, and this page came from neither.';
  }
  const hasAdapter = async (): Promise<boolean> => {
    try {
      return (await gpu.requestAdapter()) !== null;
    } catch {
      // a browser that refuses has none for us either
      return false;
    }
  };
  if (await hasAdapter()) return null;
  return 'This browser offers WebGPU, but no adapter: its GPU may be blocked, or its driver too old. In Chrome, chrome://gpu says why.';
}

const isOnCpu = (query: URLSearchParams): boolean => {
  const { knobs } = readKnobs(query);
  return knobs !== null && !needsGpu(knobs);
};

/** Whether a knob that is set is about a GPU alone. */
const asksForGpu = (query: URLSearchParams): boolean =>
  [...query.keys()].some((name) => isSettingKnob(name) && isGpuKnob(withoutSide(name)));

/** The same run on the CPU; null where it would not be the same, or cannot be. */
export function cpuQuery(query: URLSearchParams): URLSearchParams | null {
  if (isOnCpu(query)) return query;
  const asked = new URLSearchParams(query);
  for (const name of ['a.backend', 'b.backend']) asked.delete(name);
  asked.set('backend', 'cpu');
  return isOnCpu(asked) && !asksForGpu(asked) ? asked : null;
}

/** Says at the top of the page why there is no GPU, and offers the CPU. */
export function missingGpu(why: string, query: URLSearchParams): HTMLElement {
  const offer = (): (Node | string)[] => {
    if (isOnCpu(query)) return ['The CPU computes what this address asks for.'];
    const link = `?${queryText(cpuQuery(query) ?? new URLSearchParams({ backend: 'cpu' }))}`;
    return ['The library computes on the CPU as well. ', h('a', { class: 'button', href: link }, 'Compute on the CPU')];
  };
  return h(
    'section',
    { class: 'caution no-gpu', 'aria-label': 'No GPU' },
    h('p', {}, h('strong', {}, 'There is no GPU here. '), why),
    h('p', { class: 'buttons' }, ...offer()),
  );
}

/** Links of a page without a GPU: those that the CPU can answer ask it, and the others lead nowhere. */
export function offerCpu(links: Iterable<HTMLAnchorElement>): void {
  for (const link of links) {
    const onCpu = cpuQuery(new URLSearchParams(link.getAttribute('href') ?? ''));
    if (onCpu !== null) {
      link.href = `?${queryText(onCpu)}`;
      continue;
    }
    link.removeAttribute('href');
    // without an address it would be no link to those who do not see it
    link.setAttribute('role', 'link');
    link.setAttribute('aria-disabled', 'true');
    link.title = NEEDS_GPU;
    link.append(h('small', { class: 'needs-gpu' }, 'Needs a GPU'));
  }
}
