import { type Problem, queryText } from '../bench/knob.js';
import { h, note } from './dom.js';

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
