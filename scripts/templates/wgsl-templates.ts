/** Parses the Mustache of shaders in the build, so that the library ships no parser. */
import Mustache from 'mustache';
import type { Plugin } from 'vite';
import type { Template, TemplateToken } from '../../src/shaders/template.js';

/**
 * A token of `Mustache.parse`: symbol, value, start, end. A section's token also has its content, a
 * partial's its indentation.
 */
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
      // Mustache indents each line of an indented partial before it parses the partial
      if (tagsBefore === 0 && more !== '') throw new Error(`a partial must start its line: {{> ${name}}}`);
      return [name, symbol];
    default:
      throw new Error(`shaders do not support this tag: {{${symbol}${name}}}`);
  }
};

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
 * Parses a Mustache text to the form that `renderTemplate` renders.
 *
 * @throws Error if Mustache cannot parse it, or if `renderTemplate` does not know a tag
 */
export const parseTemplate = (text: string): Template => tokensOf(Mustache.parse(text));

/**
 * Makes `import template from './name.wgsl?template'` return the parsed Mustache of the file, so
 * that the library ships no parser.
 */
export const wgslTemplates = (): Plugin => ({
  name: 'wgsl-templates',
  transform(text, id) {
    if (!id.endsWith('.wgsl?template')) return null;
    try {
      return { code: `export default ${JSON.stringify(parseTemplate(text))};`, map: null, moduleType: 'js' };
    } catch (error) {
      throw new Error(`${id}: ${(error as Error).message}`);
    }
  },
});
