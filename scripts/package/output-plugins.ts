/** Plugins of the build that change what ships: pure values, quiet structs, short lines, small shaders. */
import MagicString from 'magic-string';
import { type ESTree, type Plugin, parseAst, Visitor } from 'vite';

type Node = ESTree.Node;

const isNumber = (node: Node): boolean =>
  node.type === 'BinaryExpression'
    ? isNumber(node.left) && isNumber(node.right)
    : node.type === 'Literal' && typeof node.value === 'number';

/** Returns whether every bundler knows that evaluating an expression has no effect. */
const isInert = (node: Node | null): boolean => {
  switch (node?.type) {
    case undefined:
    case 'Literal':
    case 'Identifier':
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return true;
    case 'TemplateLiteral':
      return node.expressions.length === 0;
    case 'ArrayExpression':
      return node.elements.every(isInert);
    case 'ObjectExpression':
      return node.properties.every(
        (property) => property.type === 'Property' && !property.computed && isInert(property.value),
      );
    case 'BinaryExpression':
      return isNumber(node);
    case 'ClassExpression':
      return (
        node.superClass === null &&
        node.body.body.every((member) => 'computed' in member && !member.computed && !member.static)
      );
    default:
      return false;
  }
};

/** Returns whether a call can be marked as pure: its callee and arguments have no effect. */
const isPlainCall = (node: Node): boolean =>
  (node.type === 'CallExpression' || node.type === 'NewExpression') &&
  node.callee.type === 'Identifier' &&
  node.arguments.every(isInert);

/**
 * Marks every top-level value of the bundle as pure, so that a bundler drops it where it is unused.
 * Importing src/ has no effects, but a bundler cannot see that in a call, in a class that extends
 * another, or in an operator.
 */
export const noSideEffects = (): Plugin => ({
  name: 'no-side-effects',
  renderChunk(code, chunk) {
    const marked = new MagicString(code);
    for (const statement of parseAst(code).body) {
      if (statement.type === 'VariableDeclaration') {
        for (const { id, init } of statement.declarations) {
          if (isInert(init)) continue;
          if (id.type !== 'Identifier')
            throw new Error(`${chunk.fileName}: destructuring at the top level: ${code.slice(id.start, id.end)}`);
          if (isPlainCall(init!)) {
            marked.appendRight(init!.start, '/*@__PURE__*/');
            continue;
          }
          marked.appendRight(init!.start, '/*@__PURE__*/(()=>(').appendLeft(init!.end, '))()');
          // an anonymous class gets its name from the declaration, which the function hides
          if (init!.type === 'ClassExpression' && init!.id === null)
            marked.appendLeft(init!.start + 'class'.length, ` ${id.name}`);
        }
      } else if (!/^(Import|Export|Function)/.test(statement.type)) {
        throw new Error(`${chunk.fileName}: a statement with an effect: ${code.slice(statement.start, statement.end)}`);
      }
    }
    return { code: marked.toString(), map: marked.generateMap({ hires: 'boundary' }) };
  },
});

const isStruct = ({ callee }: ESTree.CallExpression): boolean =>
  callee.type === 'Identifier' && callee.name === 'struct';

/**
 * Removes the documentation of struct fields. `struct(name, documented)` of src/shaders/kernel.ts
 * writes it as comments into the WGSL, and shaders ship without comments.
 */
export const quietStructs = (): Plugin => ({
  name: 'quiet-structs',
  // after TypeScript was compiled to JavaScript
  enforce: 'post',
  transform(code, id) {
    if (!id.includes('/src/msm/stages/') || !code.includes('struct(')) return null;
    const quiet = new MagicString(code);
    new Visitor({
      CallExpression(call) {
        const [, documented] = call.arguments;
        if (!isStruct(call) || documented?.type !== 'ObjectExpression') return;
        for (const property of documented.properties) {
          if (property.type === 'Property') quiet.overwrite(property.value.start, property.value.end, "''");
        }
      },
    }).visit(parseAst(code));
    return { code: quiet.toString(), map: quiet.generateMap({ hires: 'boundary' }) };
  },
});

/** Comments that ship: licences, and marks for bundlers. The sources have the others. */
export const keptComments = { legal: true, annotation: true, jsdoc: false };

/** Columns from which on each name of an import or export has a line. */
const LONG_LIST = 120;

/** Columns from which on each line of a text is a line of the file. */
const LONG_TEXT = 80;

/** Returns a template literal, which has as many lines as the text. */
const templateLiteral = (text: string): string => `\`${text.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\``;

/**
 * Breaks long lines of a module: lists of imports and exports, and texts of several lines, such as
 * shaders. Node prints the line that made an error which nothing catches, so no line may have many
 * kilobytes. Names and lines stay those of the sources; bundlers minify.
 */
export const shortLines = (): Plugin => ({
  name: 'short-lines',
  renderChunk(code) {
    const short = new MagicString(code);
    const breakList = (list: ESTree.ImportDeclaration | ESTree.ExportNamedDeclaration): void => {
      if (list.end - list.start < LONG_LIST) return;
      for (const { start } of list.specifiers) short.overwrite(start - 1, start, '\n\t');
    };
    new Visitor({
      ImportDeclaration: breakList,
      ExportNamedDeclaration: breakList,
      Literal({ start, end, value }) {
        if (typeof value === 'string' && value.length > LONG_TEXT && value.includes('\n'))
          short.overwrite(start, end, templateLiteral(value));
      },
    }).visit(parseAst(code));
    return { code: short.toString(), map: short.generateMap({ hires: 'boundary' }) };
  },
});

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
const withoutComments = (template: string): string =>
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
