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

/** Whether it makes one list, with functions of WGSL in it. */
const isTemplate = (statement: ESTree.Node, code: string): boolean =>
  statement.type === 'VariableDeclaration' &&
  statement.declarations.length === 1 &&
  statement.declarations.every(
    ({ init }) => init?.type === 'ArrayExpression' && /fn \w+\(/.test(code.slice(init.start, init.end)),
  );

/** Shaders are shipped without comments, and side by side: what is alike is then within the reach of gzip's window. */
export const smallWgsl = (): Plugin => ({
  name: 'small-wgsl',
  // before they are parsed
  enforce: 'pre',
  transform: (text, id) => (id.endsWith('.wgsl?template') ? { code: withoutComments(text), map: null } : null),
  renderChunk(code) {
    const sorted = new MagicString(code);
    for (const statement of parseAst(code).body) {
      if (isTemplate(statement, code)) sorted.move(statement.start, statement.end, 0).appendLeft(statement.end, '\n');
    }
    return { code: sorted.toString(), map: sorted.generateMap({ hires: 'boundary' }) };
  },
});
