import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { UsageError } from '../command-line.mjs';

const here = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The library as it is shipped, and the tools to measure it with.
 *
 * @typedef {object} Builds
 * @property {string} folder
 * @property {string} library module
 * @property {string} tools module
 */

/**
 * @param {string} [folder] with dist and dist-bench in it
 * @returns {Builds}
 * @throws UsageError if one is not there
 */
export function findBuilds(folder = here) {
  const built = resolve(folder);
  const [library, tools] = /** @type {[string, string]} */ (
    ['dist/index.js', 'dist-bench/targets.js'].map((path) => join(built, path))
  );
  for (const [module, script] of /** @type {const} */ ([
    [library, 'build'],
    [tools, 'build:bench'],
  ])) {
    if (!existsSync(module)) throw new UsageError(`${module} is not there: \`npm run ${script}\` makes it`);
  }
  return { folder: built, library, tools };
}

/**
 * @param {Builds} builds
 */
export async function openBuilds({ library, tools }) {
  return {
    library: /** @type {typeof import('../../src/index.js')} */ (await import(pathToFileURL(library).href)),
    tools: /** @type {typeof import('../../dev/targets/index.js')} */ (await import(pathToFileURL(tools).href)),
  };
}
