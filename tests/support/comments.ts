/** Finds the comments of a source, whatever its language. */
import ts from 'typescript';

/** A comment, or line comments that follow each other. */
export interface Comment {
  /** Line in the file, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Source {
  /** From the project's folder; its ending names the language. */
  readonly path: string;
  readonly text: string;
}

/** Joins comments of neighbouring lines, such as `//` paragraphs. */
const joined = (lines: readonly Comment[]): Comment[] => {
  const comments: { line: number; text: string; end: number }[] = [];
  for (const { line, text } of lines) {
    const last = comments.at(-1);
    if (last !== undefined && last.end === line - 1) Object.assign(last, { text: `${last.text}\n${text}`, end: line });
    else comments.push({ line, text, end: line });
  }
  return comments;
};

/** Comments of one-line syntax in a language that has no parser here. */
const lineComments = (text: string, marker: RegExp): Comment[] =>
  joined(
    text.split('\n').flatMap((line, i) => {
      const found = marker.exec(line);
      return found === null ? [] : [{ line: i + 1, text: line.slice(found.index + found[0].length) }];
    }),
  );

/** Comments in C and CSS. */
const blockComments = (text: string): Comment[] =>
  [...text.matchAll(/\/\*[\s\S]*?\*\//g)].map(({ 0: comment, index }) => ({
    line: text.slice(0, index).split('\n').length,
    text: comment,
  }));

/** Comments of TypeScript and JavaScript, by the compiler's parser. */
const scriptComments = ({ path, text }: Source): Comment[] => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ];
    // a template's text is no code, whatever looks like a comment in it
    const isText = ts.isTemplateHead(node) || ts.isTemplateMiddle(node);
    for (const range of isText ? [] : ranges) found.set(range.pos, range);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  const ranges = [...found.values()].sort((one, other) => one.pos - other.pos);
  const lineOf = (at: number): number => file.getLineAndCharacterOfPosition(at).line + 1;
  const one = ranges.filter(({ kind }) => kind === ts.SyntaxKind.SingleLineCommentTrivia);
  const many = ranges.filter(({ kind }) => kind === ts.SyntaxKind.MultiLineCommentTrivia);
  return [
    ...joined(one.map(({ pos, end }) => ({ line: lineOf(pos), text: text.slice(pos, end) }))),
    ...many.map(({ pos, end }) => ({ line: lineOf(pos), text: text.slice(pos, end) })),
  ];
};

/** Reads the comments of a source in the way of its language. */
const parse = (source: Source): Comment[] => {
  if (/\.(?:ts|mts|js|mjs)$/.test(source.path)) return scriptComments(source);
  if (source.path.endsWith('.wgsl')) return lineComments(source.text, /\/\/+/);
  if (source.path.endsWith('.sh')) return lineComments(source.text, /^\s*#(?!!)/);
  if (/\.(?:c|css)$/.test(source.path)) return blockComments(source.text);
  return [];
};

/** Comments by source text: several rules read the same files. */
const known = new Map<string, Comment[]>();

/** All comments of a source, in no particular order. */
export const commentsOf = (source: Source): Comment[] => {
  const key = `${source.path}\n${source.text}`;
  const comments = known.get(key) ?? parse(source);
  known.set(key, comments);
  return comments;
};

/** The prose of a comment as one line, without the comment's markers. */
export const proseOf = ({ text }: Comment): string =>
  text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\/\*+|\*+\/|\*|\/\/+)?\s?/, '').replace(/\*\/\s*$/, ''))
    .join(' ')
    .trim();
