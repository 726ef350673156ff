import { type Problem, queryText } from '../bench/knobs.js';
import { h, note } from './dom.js';

/** A link to a run, which is its own text. */
export const runLink = (query: URLSearchParams): HTMLElement =>
  h('a', { href: `?${queryText(query)}` }, `?${queryText(query)}`);

/** All that is wrong with the knobs. */
export const problemList = (problems: readonly Problem[]): HTMLElement =>
  h(
    'ul',
    { class: 'alert' },
    ...problems.map(({ text, instead }) => h('li', {}, text, ...(instead === null ? [] : [': ', runLink(instead)]))),
  );

/** What is no mistake and should be known; null where there is nothing. */
export const noteList = (notes: readonly string[]): HTMLElement | null =>
  notes.length === 0 ? null : h('div', {}, ...notes.map((each) => note(each)));
