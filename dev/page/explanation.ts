/** What the page says about itself: the templates of index.html. */
import { h } from './dom.js';

export const explanation = (id: 'introduction' | 'questions' | 'reference'): Node =>
  document.importNode((document.getElementById(id) as HTMLTemplateElement).content, true);

/** Why nothing can run here; null when it can. Looks only whether the interface is there, and starts no GPU. */
export function missingWebGpu(): HTMLElement | null {
  if ('gpu' in navigator) return null;
  return h(
    'p',
    { class: 'alert' },
    isSecureContext
      ? 'This browser offers no WebGPU. Chrome and Edge from 113 on, Safari from 26 on and Firefox from 141 on do, on most devices.'
      : 'Browsers offer WebGPU only to pages from https or from localhost, and this page came from neither.',
  );
}
