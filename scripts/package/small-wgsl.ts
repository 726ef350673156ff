import MagicString from 'magic-string';
import { type ESTree, type Plugin, parseAst } from 'vite';

/**
 * Spaces beside operators and punctuation that stay separate tokens in any context. Braces are left
 * out: a third brace would make another Mustache tag.
 */
const needless = / *([=+*,;:&|^!()]+) */g;
/** Spaces beside operators between two operands. Before a tag, a minus might become two. */
const between = /(?<=[\w)\]]) (-|->|%|<|>|<<|>>|<=|>=) (?=[\w(])/g;

const withoutSpaces = (line: string): string => line.trim().replace(needless, '$1').replace(between, '$1');

/**
 * Removes comments, indentation, empty lines and spaces around operators from a template of wgsl/.
 * The rendered shader differs in white space only: lines stay lines, and words stay apart.
 *
 * @throws Error if a comment holds a tag that reaches beyond the comment
 */
export const withoutComments = (template: string): string =>
  template
    .split('\n')
    .map((line) => {
      const at = line.indexOf('//');
      if (at === -1) return withoutSpaces(line);
      const comment = line.slice(at);
      if (/\{\{\s*[^\w{\s]/.test(comment))
        throw new Error(`a comment may contain variables, but no other tags: ${comment}`);
      return withoutSpaces(line.slice(0, at));
    })
    .filter((line) => line !== '')
    .join('\n');

const isTemplate = (statement: ESTree.Node, code: string): boolean =>
  statement.type === 'VariableDeclaration' &&
  statement.declarations.length === 1 &&
  statement.declarations.every(
    ({ init }) => init?.type === 'ArrayExpression' && /fn \w+\(/.test(code.slice(init.start, init.end)),
  );

/**
 * Ships shaders without comments and next to each other: similar texts then lie within gzip's
 * window of 32 KB.
 */
export const smallWgsl = (): Plugin => ({
  name: 'small-wgsl',
  // before the templates are parsed
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
