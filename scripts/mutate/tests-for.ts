/**
 * Finds the tests that could notice a change to a source: those that import it, directly or not,
 * the fastest first.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { project } from '../builds.mjs';

/**
 * Imports of tests that run a build or another process. A change that is made as a module is loaded
 * does not reach these.
 */
const elsewhere = ['vite', 'playwright', 'tests/support/build-library.ts'];

/** Tests of other things than right results, such as time, memory and pools, and tests of dev/. */
const aside =
  /(adapter|bench-\w+|chips|compile-time|distributions|faults|field-bench|fuzz|knobs|leaks|mutate|peers|pools|row-log|shaders|statistics|warmup)\.test\.ts$/;

/**
 * Modules that import all of src/, and the tests to run in place of all tests that import them:
 * these cover all stages and all refused arguments.
 */
const whole = {
  by: ['src/index.ts', 'src/engine/create-engine.ts'],
  tests: [
    'engine/sparse',
    'engine/bytes',
    'engine/untyped',
    'engine/dispatch-chain',
    'resilience/failures',
    'engine/precompute',
    'engine/engine',
    'cpu/cpu',
    'engine/batch',
    'engine/other-curves',
  ].map((name) => `tests/${name}.test.ts`),
};

const GPU = ['tests/support/gpu.ts', 'scripts/adapter/open-gpu.mjs'];
/** Import steps from a test to its subject, and to a module that is only part of a whole MSM. */
const [NEAR, FAR] = [3, 9];

/** Lists the imports of a module: paths from the project's root, or names of packages. */
const importsOf = (path: string): string[] => {
  if (!/\.(ts|mjs)$/.test(path)) return [];
  const { importedFiles } = ts.preProcessFile(readFileSync(join(project, path), 'utf8'), true, true);
  return importedFiles.map(({ fileName }) => {
    if (!fileName.startsWith('.')) return fileName;
    const name = normalize(join(dirname(path), fileName.replace(/\?.*/, '')));
    return existsSync(join(project, name)) ? name : name.replace(/\.js$/, '.ts');
  });
};

const known = new Map<string, string[]>();

/** Returns the number of import steps to every module. */
const reach = (test: string): Map<string, number> => {
  const distances = new Map([[test, 0]]);
  for (const [path, distance] of distances) {
    if (!known.has(path)) known.set(path, existsSync(join(project, path)) ? importsOf(path) : []);
    if (whole.by.includes(path)) continue;
    for (const next of known.get(path) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  return distances;
};

const reached = readdirSync(join(project, 'tests'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !aside.test(name))
  .map((name) => ({ test: `tests/${name}`, distances: reach(`tests/${name}`) }))
  .filter(({ distances }) => !elsewhere.some((what) => distances.get(what) === 1));

/**
 * Returns the tests of a source: those without a GPU first, then by distance.
 *
 * @param quick only tests without a GPU
 */
export function testsFor(source: string, quick = false): string[] {
  const carries = reached.map(({ test, distances }) => {
    const steps = distances.get(source) ?? FAR;
    const order = 1 + whole.tests.indexOf(test);
    return { test, order, gpu: GPU.some((path) => distances.has(path)) ? 1 : 0, distance: steps <= NEAR ? steps : FAR };
  });
  return carries
    .filter(({ distance, order, gpu }) => (distance <= NEAR || order > 0) && !(quick && gpu === 1))
    .sort((a, b) => a.gpu - b.gpu || a.distance - b.distance || a.order - b.order)
    .map(({ test }) => test);
}
