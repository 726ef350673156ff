/**
 * npm run docs [-- FOLDER]
 *
 * Builds the docs site as plain files, by default in dist-docs/: pages and API reference by
 * typedoc, and the bench in bench/.
 */
import { resolve } from 'node:path';
import { Application, JSX } from 'typedoc';
import { build } from 'vite';

const folder = resolve(process.argv[2] ?? 'dist-docs');

const app = await Application.bootstrapWithPlugins({ options: 'typedoc.config.mjs', out: folder });
// a link to the bench on every page, relative to the page
app.renderer.hooks.on('sidebar.begin', (page) =>
  JSX.createElement('p', null, JSX.createElement('a', { href: page.relativeURL('bench/index.html') }, 'The bench')),
);
const project = await app.convert();
if (project !== undefined) {
  app.validate(project);
  await app.generateOutputs(project);
}
// warnings are errors here: they report dead links and missing docstrings
if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1;
else await build({ configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: resolve(folder, 'bench') } });
