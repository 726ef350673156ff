import { join } from 'node:path';
import { createServer, runnerImport } from 'vite';
import { project } from './builds.mjs';

/**
 * Runs a TypeScript module of the repository to the end of its top level, with shaders as the
 * library's build imports them.
 *
 * @param {string} path from the project
 */
export async function runTypeScript(path) {
  const quiet = /** @type {const} */ ({ root: project, configFile: false, logLevel: 'error' });
  const { module: templates } = await runnerImport(join(project, 'scripts/templates/wgsl-templates.ts'), quiet);
  const server = await createServer({
    ...quiet,
    plugins: [templates.wgslTemplates()],
    appType: 'custom',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, watch: null },
  });
  try {
    await server.ssrLoadModule(join(project, path));
  } finally {
    await server.close();
  }
}
