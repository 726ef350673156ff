import MagicString from 'magic-string';
import { type ESTree, type Plugin, parseAst, Visitor } from 'vite';

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
