import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const inProject = (/** @type {string} */ path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Imports a TypeScript module of the repository, with shaders as the library's build imports them.
 *
 * @param {string} path relative to the project
 * @returns {Promise<any>}
 */
export async function importTypeScript(path) {
  const root = inProject('.');
  const quiet = /** @type {const} */ ({ root, logLevel: 'warn' });
  const { module: templates } = await runnerImport(inProject('scripts/templates/wgsl-templates.ts'), quiet);
  const { module } = await runnerImport(inProject(path), { ...quiet, plugins: [templates.wgslTemplates()] });
  return module;
}
