import ts from 'typescript';

interface FunctionLines {
  readonly name: string;
  /** From its first line to its last, without its docstring. */
  readonly lines: number;
}

/** Names a function: by its own name, its variable, its key, or the call that takes it. */
const nameOf = (node: ts.FunctionLikeDeclaration, file: ts.SourceFile): string => {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (node.name !== undefined) return node.name.getText(file);
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) {
    return parent.name.getText(file);
  }
  return ts.isCallExpression(parent) ? `${parent.expression.getText(file)}(…)` : 'anonymous';
};

/**
 * Measures all functions of a TypeScript source, in the order in which they begin. Lines of an
 * inner function count for the outer one, too.
 */
export const functionLines = (path: string, text: string): FunctionLines[] => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number): number => file.getLineAndCharacterOfPosition(at).line;
  const found: FunctionLines[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const lines = lineOf(node.getEnd()) - lineOf(node.getStart(file)) + 1;
      found.push({ name: nameOf(node as ts.FunctionLikeDeclaration, file), lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
};
