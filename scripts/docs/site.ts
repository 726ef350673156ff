/**
 * npm run docs [-- FOLDER] [--base /PATH/]
 *
 * Builds the docs site as plain files for any static host, by default in dist-docs/: the pages of
 * docs/, the API of all entries, and the bench in bench/. `--base` is the path at which the host
 * serves the folder, by default /.
 */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build as buildBench } from 'vite';
import { build as buildPages } from 'vitepress';
import { writeApi } from './api.js';
import { inProject } from './site-pages.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { base: { type: 'string', default: '/' } },
});
const outDir = resolve(positionals[0] ?? 'dist-docs');
const { base } = values;
const api = inProject('docs/reference/api');

if (!/^\/(.*\/)?$/.test(base)) {
  console.error(`docs: --base must begin and end with /, got ${base}`);
  process.exit(1);
}
rmSync(api, { recursive: true, force: true });
if (!(await writeApi(api))) process.exit(1);
await buildPages(inProject('docs'), { base, outDir });
await buildBench({
  configFile: inProject('vite.config.ts'),
  logLevel: 'warn',
  build: { outDir: resolve(outDir, 'bench'), emptyOutDir: true },
});
console.log(`
The site is in ${outDir}, for a host that serves it at ${base}. To read it here:
  npx vite preview --outDir ${outDir} --base ${base} --open`);
