import { minifySync, type Plugin } from 'vite';

/**
 * Minifies JavaScript; the source map keeps comments and names. This plugin goes before
 * `noSideEffects`: a minifier that inlines a function removes its mark.
 */
export const smallScript = (): Plugin => ({
  name: 'small-script',
  renderChunk(code, { fileName }) {
    const {
      code: small,
      map,
      errors,
    } = minifySync(fileName, code, {
      module: true,
      sourcemap: true,
      // rolldown keeps or drops a declaration as a whole, and programs may use a part of index.js
      compress: { target: 'es2022', joinVars: fileName !== 'index.js' },
      // programs see the name of this class
      mangle: { toplevel: true, reserved: ['MsmError'] },
      codegen: { removeWhitespace: true, legalComments: 'inline' },
    });
    if (errors.length > 0)
      throw new Error(`${fileName} cannot be minified: ${errors.map(({ message }) => message).join('; ')}`);
    return { code: small, map: map ?? null };
  },
});
