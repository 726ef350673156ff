import { join } from 'node:path';
import { createServer, runnerImport } from 'vite';
import { project } from '../builds.mjs';

const inProject = (/** @type {string} */ path) => join(project, path);

/**
 * Runs work that imports TypeScript modules of the repository, with shaders as the library's build
 * imports them.
 *
 * @template Result
 * @param {(importModule: (path: string) => Promise<any>) => Promise<Result>} work `path` is relative
 *   to the project
 * @returns {Promise<Result>}
 */
export async function withTypeScript(work) {
  const quiet = /** @type {const} */ ({ root: inProject('.'), configFile: false, logLevel: 'error' });
  const { module: templates } = await runnerImport(inProject('scripts/templates/wgsl-templates.ts'), quiet);
  const server = await createServer({
    ...quiet,
    plugins: [templates.wgslTemplates()],
    appType: 'custom',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, watch: null },
  });
  try {
    return await work((path) => server.ssrLoadModule(inProject(path)));
  } finally {
    await server.close();
  }
}
