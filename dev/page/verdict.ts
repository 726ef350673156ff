import { h } from './dom.js';

/** Not by colour alone. */
export const verdict = (right: boolean): HTMLElement =>
  h('span', { class: right ? 'right' : 'wrong' }, right ? '✓ right' : '✗ wrong');
