/** Reads declarations and their docstrings from the sources. Nothing is type-checked. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A docstring: its text in one line for each paragraph, and its tags. */
export interface Docstring {
  readonly paragraphs: readonly string[];
  /** Text of `@defaultValue`; null without the tag. */
  readonly defaultValue: string | null;
}

/** A property or method of an interface, or an entry of an object. */
export interface Member extends Docstring {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
}

/** A string of a union of strings. */
export interface Word extends Docstring {
  readonly word: string;
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').trim();

/** Parses a comment of the form of a docstring. */
const parse = (comment: string): Docstring => {
  const text = comment.replaceAll(/^\s*\/\*\*|\*\/\s*$/g, '').replaceAll(/^[ \t]*\* ?/gm, '');
  const [prose = '', ...tags] = text.split(/^\s*@/m);
  const tag = tags.find((each) => each.startsWith('defaultValue '));
  return {
    paragraphs: prose
      .split(/\n\s*\n/)
      .map(oneLine)
      .filter((paragraph) => paragraph !== ''),
    defaultValue: tag === undefined ? null : oneLine(tag.slice('defaultValue '.length)),
  };
};

const sources = new Map<string, ts.SourceFile>();
const sourceOf = (path: string): ts.SourceFile => {
  const known = sources.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  sources.set(path, source);
  return source;
};

/** Returns the docstring right before a node. @throws Error if there is none */
const docstringOf = (source: ts.SourceFile, node: ts.Node, where: string): Docstring => {
  const ranges = ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [];
  const text = ranges.map(({ pos, end }) => source.text.slice(pos, end)).findLast((each) => each.startsWith('/**'));
  if (text === undefined) throw new Error(`${where} has no docstring`);
  return parse(text);
};

const declarationOf = <Kind extends ts.Statement>(
  path: string,
  name: string,
  is: (node: ts.Node) => node is Kind & { readonly name: ts.Identifier },
): Kind => {
  const found = sourceOf(path).statements.find(
    (node): node is Kind & { readonly name: ts.Identifier } => is(node) && node.name.text === name,
  );
  if (found === undefined) throw new Error(`${path} declares no ${name}`);
  return found;
};

/**
 * Returns the members of an interface, without those that it inherits. Type parameters are shown as
 * what they may be.
 */
export const membersOf = (path: string, name: string): Member[] => {
  const source = sourceOf(path);
  const { members, typeParameters = [] } = declarationOf(path, name, ts.isInterfaceDeclaration);
  const constraints = new Map(typeParameters.map((each) => [each.name.text, each.constraint?.getText() ?? 'unknown']));
  const typeText = (type: ts.TypeNode): string => {
    if (ts.isUnionTypeNode(type)) return type.types.map(typeText).join(' | ');
    if (ts.isParenthesizedTypeNode(type) && ts.isConditionalTypeNode(type.type)) return typeText(type.type);
    return ts.isConditionalTypeNode(type)
      ? `${typeText(type.trueType)} | ${typeText(type.falseType)}`
      : (constraints.get(type.getText()) ?? oneLine(type.getText()));
  };
  return members.map((member) => {
    const own = (member.name as ts.Identifier).text;
    const docstring = docstringOf(source, member, `${path}: ${name}.${own}`);
    const isOptional = member.questionToken !== undefined;
    if (ts.isPropertySignature(member) && member.type !== undefined)
      return { name: own, type: typeText(member.type), isOptional, ...docstring };
    if (!ts.isMethodSignature(member)) throw new Error(`${path}: ${name}.${own} is neither property nor method`);
    const parameters = member.parameters.map((parameter) => parameter.getText()).join(', ');
    return { name: own, type: oneLine(`(${parameters}) => ${member.type?.getText()}`), isOptional, ...docstring };
  });
};

/** Returns the words of a union of strings, each with its docstring; references are left out. */
export const wordsOf = (path: string, name: string): Word[] => {
  const source = sourceOf(path);
  const { type } = declarationOf(path, name, ts.isTypeAliasDeclaration);
  if (!ts.isUnionTypeNode(type)) throw new Error(`${path}: ${name} is no union`);
  return type.types.flatMap((member) => {
    if (!ts.isLiteralTypeNode(member) || !ts.isStringLiteral(member.literal)) return [];
    const { text: word } = member.literal;
    // the comment stands before the bar
    const before = source.text.slice(0, member.getStart()).replace(/\|\s*$/, '');
    const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(before)?.[0];
    if (comment === undefined) throw new Error(`${path}: ${name} '${word}' has no docstring`);
    return [{ word, ...parse(comment.trim()) }];
  });
};

/** Returns the value of a constant, without `as` and `satisfies`. */
const constantOf = (path: string, name: string): ts.Expression => {
  let value = sourceOf(path)
    .statements.flatMap((node) => (ts.isVariableStatement(node) ? [...node.declarationList.declarations] : []))
    .find((node) => node.name.getText() === name)?.initializer;
  while (value !== undefined && (ts.isSatisfiesExpression(value) || ts.isAsExpression(value))) value = value.expression;
  if (value === undefined) throw new Error(`${path} has no constant ${name}`);
  return value;
};

/** Returns the docstrings of the entries of an object that a constant holds. */
export const entriesOf = (path: string, name: string): ReadonlyMap<string, Docstring> => {
  const value = constantOf(path, name);
  if (!ts.isObjectLiteralExpression(value)) throw new Error(`${path}: ${name} is no object`);
  return new Map(
    value.properties.map((property) => {
      const own = (property.name as ts.Identifier | ts.StringLiteral).text;
      return [own, docstringOf(sourceOf(path), property, `${path}: ${name}.${own}`)];
    }),
  );
};
