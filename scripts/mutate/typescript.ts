/** Finds the places in TypeScript where the mutation operators apply. Types are left out. */
import { join } from 'node:path';
import ts from 'typescript';
import { project } from '../builds.mjs';
import { type Change, negated, removed, tokenChanges } from './operators.js';

const leaves = (statement: ts.Statement): boolean =>
  ts.isBlock(statement)
    ? statement.statements.some(leaves)
    : ts.isReturnStatement(statement) ||
      ts.isThrowStatement(statement) ||
      ts.isContinueStatement(statement) ||
      ts.isBreakStatement(statement);

export function typescriptChanges(source: string): Change[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const changes: Change[] = [];
  const add = (node: ts.Node, change: (at: number, from: string) => Change | Change[]) =>
    changes.push(...[change(node.getStart(file), node.getText(file))].flat());
  const visit = (node: ts.Node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) add(node.operatorToken, tokenChanges);
    else if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) add(node, tokenChanges);
    else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
      add(node, tokenChanges);
    } else if (ts.isPropertyAccessExpression(node) && node.expression.getText(file) === 'Math') {
      add(node.name, tokenChanges);
    } else if (ts.isIfStatement(node)) {
      add(node.expression, negated);
      if (node.elseStatement === undefined && leaves(node.thenStatement)) add(node, removed);
    } else if (ts.isConditionalExpression(node)) add(node.condition, negated);
    else if (ts.isExpressionStatement(node)) add(node, removed);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return changes;
}

const { config } = ts.readConfigFile(join(project, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, project);

let program: ts.Program | undefined;

/**
 * Returns whether a module compiles with another source.
 *
 * @param path path of the module
 * @param source the source in place of the file's
 */
export function compiles(path: string, source: string): boolean {
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, language, ...more) =>
    name === path
      ? ts.createSourceFile(name, source, language)
      : (program?.getSourceFile(name) ?? getSourceFile(name, language, ...more));
  program = ts.createProgram([path], options, host, program);
  return program.getSemanticDiagnostics(program.getSourceFile(path)).length === 0;
}
