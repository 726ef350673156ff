import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const EXPORT = 'export default mustache;';

/**
 * Mustache goes into the bundle, as one value that a bundler can leave out. Its licence comes along: the copyright in a comment that minifiers
 * keep, all of it in THIRD-PARTY.txt.
 */
export const inlinedMustache = (): Plugin => ({
  name: 'inlined-mustache',
  transform(code, id) {
    if (!id.endsWith('/mustache.mjs')) return null;
    const own = code.replace(/^\/\*!.*?\*\//s, '').trim();
    if (!own.endsWith(EXPORT)) throw new Error(`${id} no longer ends in ${EXPORT}`);
    const folder = dirname(id);
    const { version, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const licence = readFileSync(join(folder, 'LICENSE'), 'utf8').trim();
    this.emitFile({
      type: 'asset',
      fileName: 'THIRD-PARTY.txt',
      source: `index.js contains mustache.js ${version}, ${homepage}\n\n${licence}\n`,
    });
    const copyright = licence.match(/^Copyright .*$/gm)?.join(', ');
    const notice = `/*! mustache.js ${version}, MIT, ${copyright}: THIRD-PARTY.txt */`;
    return {
      code: `${notice}\nexport default (() => {\n${own.slice(0, -EXPORT.length)}\nreturn mustache;\n})();\n`,
      map: null,
    };
  },
});
