/** `errors`: the codes of `MsmError`, from their docstrings. */
import type { Blocks } from '../blocks.js';
import { wordsOf } from '../declarations.js';
import { code, table } from '../markdown.js';

const REMEDY = 'Remedy: ';

const rows = () =>
  wordsOf('src/errors.ts', 'MsmErrorCode').map(({ word, paragraphs }) => {
    const remedy = paragraphs.at(-1) ?? '';
    if (paragraphs.length < 2 || !remedy.startsWith(REMEDY))
      throw new Error(`src/errors.ts: the docstring of '${word}' must end with a paragraph "${REMEDY}…"`);
    const [first = '', ...more] = remedy.slice(REMEDY.length);
    return [code(word), paragraphs.slice(0, -1).join(' '), first.toUpperCase() + more.join('')];
  });

export const blocks: Blocks = { errors: () => table(['code', 'meaning', 'remedy'], rows()) };
