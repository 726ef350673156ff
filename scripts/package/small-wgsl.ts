import { readFileSync } from 'node:fs';
import MagicString from 'magic-string';
import { type ESTree, type Plugin, parseAst } from 'vite';

/** The spaces beside what is a token of its own, whatever stands next to it there. Braces are not: a third one would make another tag. */
const needless = / *([=+*,;:&|^!()]+) */g;
/** And beside what is one between two operands; a minus before a tag might become two. */
const between = /(?<=[\w)\]]) (-|->|%|<|>|<<|>>|<=|>=) (?=[\w(])/g;

const withoutSpaces = (line: string): string => line.trim().replace(needless, '$1').replace(between, '$1');

/**
 * A template of wgsl/ without what no GPU reads: comments, indentation, empty lines, spaces around operators. What it renders to stays the
 * same but for white space, as nothing is taken from between two words of a line, and lines stay lines.
 *
 * @throws Error where a comment holds a tag that reaches beyond it
 */
export const withoutComments = (template: string): string =>
  template
    .split('\n')
    .map((line) => {
      const at = line.indexOf('//');
      if (at === -1) return withoutSpaces(line);
      const comment = line.slice(at);
      if (/\{\{\s*[^\w{\s]/.test(comment))
        throw new Error(`a comment may name variables, and nothing else: ${comment}`);
      return withoutSpaces(line.slice(0, at));
    })
    .filter((line) => line !== '')
    .join('\n');

/** A constant that is a text of many lines. */
const isTemplate = (statement: ESTree.Node): boolean =>
  statement.type === 'VariableDeclaration' &&
  statement.declarations.every(
    ({ init }) => init?.type === 'Literal' && typeof init.value === 'string' && init.value.includes('\n}'),
  );

/** Shaders are shipped without comments, and side by side: what is alike is then within the reach of gzip's window. */
export const smallWgsl = (): Plugin => ({
  name: 'small-wgsl',
  // before vite's own reading of `?raw`
  enforce: 'pre',
  load(id) {
    const [path, query] = id.split('?');
    if (query !== 'raw' || !path?.endsWith('.wgsl')) return null;
    return `export default ${JSON.stringify(withoutComments(readFileSync(path, 'utf8')))};`;
  },
  renderChunk(code) {
    const sorted = new MagicString(code);
    for (const statement of parseAst(code).body) {
      if (isTemplate(statement)) sorted.move(statement.start, statement.end, 0).appendLeft(statement.end, '\n');
    }
    return { code: sorted.toString(), map: sorted.generateMap({ hires: 'boundary' }) };
  },
});
