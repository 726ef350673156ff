import MagicString from 'magic-string';
import { type ESTree, type Plugin, parseAst } from 'vite';

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
