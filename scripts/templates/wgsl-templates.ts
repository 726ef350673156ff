import type { Plugin } from 'vite';
import { parseTemplate } from './parse-template.js';

/**
 * Makes `import template from './name.wgsl?template'` return the parsed Mustache of the file, so
 * that the library ships no parser.
 */
export const wgslTemplates = (): Plugin => ({
  name: 'wgsl-templates',
  transform(text, id) {
    if (!id.endsWith('.wgsl?template')) return null;
    try {
      return { code: `export default ${JSON.stringify(parseTemplate(text))};`, map: null, moduleType: 'js' };
    } catch (error) {
      throw new Error(`${id}: ${(error as Error).message}`);
    }
  },
});
