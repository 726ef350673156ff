import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/**
 * From here on mustache has an object of functions that render by its settings. Its writer takes the tags from there, and nothing else
 * where it is told how to escape.
 */
const CONVENIENCES = 'var mustache = {';

/**
 * What the library uses of mustache, its contexts and its writer, goes into the bundle, as one value that a bundler can leave out. Its
 * licence comes along: the copyright in a comment that minifiers keep, all of it in THIRD-PARTY.txt.
 */
export const inlinedMustache = (): Plugin => ({
  name: 'inlined-mustache',
  transform(code, id) {
    if (!id.endsWith('/mustache.mjs')) return null;
    const own = code.replace(/^\/\*!.*?\*\//s, '').trim();
    const end = own.indexOf(CONVENIENCES);
    if (end === -1) throw new Error(`${id} has no '${CONVENIENCES}' any more`);
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
      code: `${notice}\nexport default (() => {\n${own.slice(0, end)}\nvar mustache = { tags: ['{{', '}}'] };\nreturn { Context, Writer };\n})();\n`,
      map: null,
    };
  },
});
