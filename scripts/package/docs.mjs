/** npm run docs [-- FOLDER]: the docs site, plain files: pages and API reference by typedoc, and in bench/ the bench. Default: dist-docs/. */
import { resolve } from 'node:path';
import { Application, JSX } from 'typedoc';
import { build } from 'vite';

const folder = resolve(process.argv[2] ?? 'dist-docs');

const app = await Application.bootstrapWithPlugins({ options: 'typedoc.config.mjs', out: folder });
// a link on every page, from wherever it is
app.renderer.hooks.on('sidebar.begin', (page) =>
  JSX.createElement('p', null, JSX.createElement('a', { href: page.relativeURL('bench/index.html') }, 'The bench')),
);
const project = await app.convert();
if (project !== undefined) {
  app.validate(project);
  await app.generateOutputs(project);
}
// warnings count: they are of links that lead nowhere, and of what has no docstring
if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1;
else await build({ configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: resolve(folder, 'bench') } });
