/**
 * Runs tests on changed sources, for scripts/mutate/try-out.mjs, in a process that can be killed: a
 * changed source may loop forever.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfigFromFile } from 'vite';
import { createVitest } from 'vitest/node';
import { project } from '../builds.mjs';
import { applied } from './operators.mjs';

/** @typedef {{ tests: readonly string[], mutant?: import('./mutants.mjs').Mutant }} Task */
/** @typedef {Record<string, { failed: boolean, ms: number }>} Results by test, up to the first failure */

/** @type {Task['mutant']} */
let mutant;

/** Loads the mutant in place of its file, which stays unchanged. @type {import('vite').Plugin} */
const swap = {
  name: 'mutant',
  enforce: 'pre',
  load(id) {
    const path = id.replace(/\?.*/, '');
    return mutant !== undefined && path === join(project, mutant.file)
      ? applied(readFileSync(path, 'utf8'), mutant)
      : null;
  },
};

// The configuration without its projects: those load the file again, without the plugin.
const environment = { command: /** @type {const} */ ('serve'), mode: 'test' };
const found = await loadConfigFromFile(environment, join(project, 'vitest.config.ts'), project);
const { test: { projects: _, ...test } = {}, plugins = [], ...rest } = found?.config ?? {};
const options = { root: project, config: false, watch: false, bail: 1, reporters: [{}], tagsFilter: ['!long'] };
const vitest = await createVitest('test', /** @type {import('vitest/node').CliOptions} */ (options), {
  ...rest,
  plugins: [...plugins, swap],
  logLevel: 'silent',
  test: { ...test, include: ['tests/**/*.test.ts'] },
});
const specifications = await vitest.globTestSpecifications();

/** Runs the tests of a task until one fails. @param {Task} task @returns {Promise<Results>} */
async function run(task) {
  const changed = [mutant, task.mutant].map((each) => each?.file);
  mutant = task.mutant;
  for (const file of changed) if (file !== undefined) vitest.invalidateFile(join(project, file));
  /** @type {Results} */
  const results = {};
  for (const test of task.tests) {
    // with `bail`, an earlier failure would end this test at once
    vitest.state.filesMap.clear();
    vitest.state.idMap.clear();
    const started = performance.now();
    const specification = specifications.filter(({ moduleId }) => moduleId === join(project, test));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specification);
    const failed =
      unhandledErrors.length > 0 || testModules.length === 0 || !testModules.every((module) => module.ok());
    results[test] = { failed, ms: performance.now() - started };
    if (failed) break;
  }
  return results;
}

process.on('message', async (/** @type {Task} */ task) => process.send?.(await run(task)));
