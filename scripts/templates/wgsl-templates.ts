import type { Plugin } from 'vite';
import { parseTemplate } from './parse-template.js';

/** `import template from './name.wgsl?template'` is what the Mustache in the file is parsed to: where shaders are rendered, nobody parses. */
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
