import Mustache from 'mustache';
import type { Template, TemplateToken } from '../../src/shaders/template.js';

/** As `Mustache.parse` gives them: symbol, value, where from, where to; of a section also what is in it, of a partial its indentation. */
type Parsed = Mustache.TemplateSpans[number];

const tokenOf = ([symbol, name, , , more, tagsBefore]: Parsed): TemplateToken => {
  switch (symbol) {
    case 'text':
      return name;
    case 'name':
    case '&':
      return [name];
    case '#':
    case '^':
      return [name, symbol, tokensOf(more as Parsed[])];
    case '>':
      // Mustache would indent each of its lines as well, before it parses them
      if (tagsBefore === 0 && more !== '') throw new Error(`a partial goes to the start of its line: {{> ${name}}}`);
      return [name, symbol];
    default:
      throw new Error(`no tag of a shader's: {{${symbol}${name}}}`);
  }
};

/** A comment, or that tags look otherwise from here on: nothing is left of either to be rendered. */
const isSilent = ([symbol]: Parsed): boolean => symbol === '!' || symbol === '=';

const tokensOf = (parsed: readonly Parsed[]): Template => {
  const tokens: TemplateToken[] = [];
  for (const token of parsed.filter((span) => !isSilent(span)).map(tokenOf)) {
    const last = tokens.at(-1);
    if (typeof token === 'string' && typeof last === 'string') tokens[tokens.length - 1] = last + token;
    else tokens.push(token);
  }
  return tokens;
};

/**
 * What `renderTemplate` renders, of a text in Mustache.
 *
 * @throws Error where Mustache cannot parse it, or where a tag is not one that `renderTemplate` knows
 */
export const parseTemplate = (text: string): Template => tokensOf(Mustache.parse(text));
