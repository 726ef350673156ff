/** Finds the places in TypeScript where the mutation operators apply. Types are left out. */
import { join } from 'node:path';
import ts from 'typescript';
import { project } from '../builds.mjs';
import { negated, removed, tokenChanges } from './operators.mjs';

/** @typedef {import('./operators.mjs').Change} Change */

/** Returns whether a statement ends its function or its loop's turn. @param {ts.Statement} statement @returns {boolean} */
const leaves = (statement) =>
  ts.isBlock(statement)
    ? statement.statements.some(leaves)
    : ts.isReturnStatement(statement) ||
      ts.isThrowStatement(statement) ||
      ts.isContinueStatement(statement) ||
      ts.isBreakStatement(statement);

/** Lists the changes of a source. @param {string} source @returns {Change[]} */
export function typescriptChanges(source) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  /** @type {Change[]} */
  const changes = [];
  /** @param {ts.Node} node @param {(at: number, from: string) => Change | Change[]} change */
  const add = (node, change) => changes.push(...[change(node.getStart(file), node.getText(file))].flat());
  /** @param {ts.Node} node */
  const visit = (node) => {
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

/** @type {ts.Program | undefined} */
let program;

/**
 * Returns whether a module compiles with another source.
 *
 * @param {string} path path of the module
 * @param {string} source the source in place of the file's
 * @returns {boolean}
 */
export function compiles(path, source) {
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, language, ...more) =>
    name === path
      ? ts.createSourceFile(name, source, language)
      : (program?.getSourceFile(name) ?? getSourceFile(name, language, ...more));
  program = ts.createProgram([path], options, host, program);
  return program.getSemanticDiagnostics(program.getSourceFile(path)).length === 0;
}
