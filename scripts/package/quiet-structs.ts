import MagicString from 'magic-string';
import { type ESTree, type Plugin, parseAst, Visitor } from 'vite';

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
