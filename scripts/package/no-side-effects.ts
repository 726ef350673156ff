import MagicString from 'magic-string';
import { type ESTree, type Plugin, parseAst } from 'vite';

type Node = ESTree.Node;

/** Numbers, and what is computed of them alone. */
const isNumber = (node: Node): boolean =>
  node.type === 'BinaryExpression'
    ? isNumber(node.left) && isNumber(node.right)
    : node.type === 'Literal' && typeof node.value === 'number';

/** Whether every bundler knows that evaluating it does nothing else. */
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

/** A call that can be marked as it is: nothing else happens before it. */
const isPlainCall = (node: Node): boolean =>
  (node.type === 'CallExpression' || node.type === 'NewExpression') &&
  node.callee.type === 'Identifier' &&
  node.arguments.every(isInert);

/**
 * Every value that the modules of the bundle make when they are imported is marked as one that may be left out where nobody uses it. Nothing
 * in src/ has effects when it is imported, which a bundler cannot see by itself in a call, a class that extends another or an operator.
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
            throw new Error(`${chunk.fileName}: a pattern at the top: ${code.slice(id.start, id.end)}`);
          if (isPlainCall(init!)) {
            marked.appendRight(init!.start, '/*@__PURE__*/');
            continue;
          }
          marked.appendRight(init!.start, '/*@__PURE__*/(()=>(').appendLeft(init!.end, '))()');
          // what it was called by is lost on its way out of a function
          if (init!.type === 'ClassExpression' && init!.id === null)
            marked.appendLeft(init!.start + 'class'.length, ` ${id.name}`);
        }
      } else if (!/^(Import|Export|Function)/.test(statement.type)) {
        throw new Error(`${chunk.fileName}: has an effect: ${code.slice(statement.start, statement.end)}`);
      }
    }
    return { code: marked.toString(), map: marked.generateMap({ hires: 'boundary' }) };
  },
});
