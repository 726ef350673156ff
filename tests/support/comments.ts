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

const { SyntaxKind } = ts;
/** Tokens after which a slash divides; after others it begins a regular expression. */
const OPERANDS: ReadonlySet<ts.SyntaxKind> = new Set([
  ...[SyntaxKind.Identifier, SyntaxKind.PrivateIdentifier, SyntaxKind.ThisKeyword, SyntaxKind.SuperKeyword],
  ...[SyntaxKind.NullKeyword, SyntaxKind.TrueKeyword, SyntaxKind.FalseKeyword],
  ...[SyntaxKind.NumericLiteral, SyntaxKind.BigIntLiteral, SyntaxKind.StringLiteral],
  ...[SyntaxKind.NoSubstitutionTemplateLiteral, SyntaxKind.TemplateTail, SyntaxKind.RegularExpressionLiteral],
  ...[SyntaxKind.CloseParenToken, SyntaxKind.CloseBracketToken, SyntaxKind.CloseBraceToken],
]);
const isOperand = (kind: ts.SyntaxKind): boolean => OPERANDS.has(kind) || kind > SyntaxKind.LastReservedWord;

/** Comments of TypeScript and JavaScript, by the compiler's scanner. */
const commentRanges = (text: string): ts.CommentRange[] => {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, text);
  const found: ts.CommentRange[] = [];
  // open braces in each expression of a template
  const braces: number[] = [];
  let before: ts.SyntaxKind = SyntaxKind.Unknown;
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    const isSlash = kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken;
    if (isSlash && !isOperand(before)) kind = scanner.reScanSlashToken();
    if (kind === SyntaxKind.CloseBraceToken && braces.at(-1) === 0) {
      braces.pop();
      kind = scanner.reScanTemplateToken(false);
    } else if (kind === SyntaxKind.CloseBraceToken && braces.length > 0) braces.push((braces.pop() as number) - 1);
    if (kind === SyntaxKind.OpenBraceToken && braces.length > 0) braces.push((braces.pop() as number) + 1);
    if (kind === SyntaxKind.TemplateHead || kind === SyntaxKind.TemplateMiddle) braces.push(0);
    if (kind === SyntaxKind.SingleLineCommentTrivia || kind === SyntaxKind.MultiLineCommentTrivia) {
      found.push({ kind, pos: scanner.getTokenStart(), end: scanner.getTokenEnd() });
    } else if (kind > SyntaxKind.LastTriviaToken) before = kind;
  }
  return found;
};

const scriptComments = ({ text }: Source): Comment[] => {
  const lineOf = (at: number): number => text.slice(0, at).split('\n').length;
  const ranges = commentRanges(text);
  const one = ranges.filter(({ kind }) => kind === SyntaxKind.SingleLineCommentTrivia);
  const many = ranges.filter(({ kind }) => kind === SyntaxKind.MultiLineCommentTrivia);
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
