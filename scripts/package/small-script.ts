import { minifySync, type Plugin } from 'vite';

/**
 * JavaScript without comments and long names; the source map has both. It goes before `noSideEffects`, as a minifier takes away the marks with the
 * functions that it inlines.
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
      compress: { target: 'es2022' },
      // the one class that programs see
      mangle: { toplevel: true, reserved: ['MsmError'] },
      codegen: { removeWhitespace: true, legalComments: 'inline' },
    });
    if (errors.length > 0)
      throw new Error(`${fileName} cannot be made small: ${errors.map(({ message }) => message).join('; ')}`);
    return { code: small, map: map ?? null };
  },
});
