/**
 * Runs tests on changed sources, for try-out.ts, in a process that can be killed: a
 * changed source may loop forever.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfigFromFile, type Plugin } from 'vite';
import { type CliOptions, createVitest } from 'vitest/node';
import { project } from '../builds.mjs';
import type { Mutant } from './mutants.js';
import { applied } from './operators.js';

export interface Task {
  readonly tests: readonly string[];
  readonly mutant?: Mutant;
}
/** Results by test, up to the first failure. */
export type Results = Record<string, { failed: boolean; ms: number }>;

let mutant: Task['mutant'];

/** Loads the mutant in place of its file, which stays unchanged. */
const swap: Plugin = {
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
const environment = { command: 'serve' as const, mode: 'test' };
const found = await loadConfigFromFile(environment, join(project, 'vitest.config.ts'), project);
const { test: { projects: _, ...test } = {}, plugins = [], ...rest } = found?.config ?? {};
const options = { root: project, config: false, watch: false, bail: 1, reporters: [{}], tagsFilter: ['!long'] };
const vitest = await createVitest('test', options as CliOptions, {
  ...rest,
  plugins: [...plugins, swap],
  logLevel: 'silent',
  test: { ...test, include: ['tests/**/*.test.ts'] },
});
const specifications = await vitest.globTestSpecifications();

async function run(task: Task): Promise<Results> {
  const changed = [mutant, task.mutant].map((each) => each?.file);
  mutant = task.mutant;
  for (const file of changed) if (file !== undefined) vitest.invalidateFile(join(project, file));
  const results: Results = {};
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

process.on('message', async (task: Task) => process.send?.(await run(task)));
