/** Which tests could notice a change to a source: those that import it, however indirectly, what costs least first. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { project } from '../builds.mjs';

/** What these tests run is built, or runs elsewhere: a change that is made as a module is loaded does not get there. */
const elsewhere = ['vite', 'playwright', 'tests/support/build-library.ts'];

/** These ask about other things than whether a result is right: time, memory, whose pool it is; or they are about dev/. */
const aside =
  /(adapter|batch-inverse|bench-\w+|chips|compile-time|distributions|faults|field-bench(-variants)?|fuzz|knobs|leaks|mutate|peers|pools|row-log|shaders|statistics|warmup)\.test\.ts$/;

/** They import all of src/. Of the tests that go through them, these are enough: all the stages, and what calls are refused. */
const whole = {
  by: ['src/index.ts', 'src/engine/create-engine.ts'],
  tests: [
    'sparse',
    'bytes',
    'untyped',
    'chain',
    'failures',
    'precompute',
    'engine',
    'cpu',
    'batch',
    'other-curves',
  ].map((name) => `tests/${name}.test.ts`),
};

const GPU = ['tests/support/gpu.ts', 'scripts/adapter/open-gpu.mjs'];
/** Steps of imports from a test to what it is about, and to what is somewhere in a whole MSM. */
const [NEAR, FAR] = [3, 9];

/** @param {string} path @returns {string[]} paths from the root of the project, or names of packages */
const importsOf = (path) => {
  if (!/\.(ts|mjs)$/.test(path)) return [];
  const { importedFiles } = ts.preProcessFile(readFileSync(join(project, path), 'utf8'), true, true);
  return importedFiles.map(({ fileName }) => {
    if (!fileName.startsWith('.')) return fileName;
    const name = normalize(join(dirname(path), fileName.replace(/\?.*/, '')));
    return existsSync(join(project, name)) ? name : name.replace(/\.js$/, '.ts');
  });
};

/** @type {Map<string, string[]>} */
const known = new Map();

/** @param {string} test @returns {Map<string, number>} how many steps of imports away everything is */
const reach = (test) => {
  const distances = new Map([[test, 0]]);
  for (const [path, distance] of distances) {
    if (!known.has(path)) known.set(path, existsSync(join(project, path)) ? importsOf(path) : []);
    if (whole.by.includes(path)) continue;
    for (const next of known.get(path) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  return distances;
};

const reached = readdirSync(join(project, 'tests'))
  .filter((name) => name.endsWith('.test.ts') && !aside.test(name))
  .map((name) => ({ test: `tests/${name}`, distances: reach(`tests/${name}`) }))
  .filter(({ distances }) => !elsewhere.some((what) => distances.get(what) === 1));

/**
 * @param {string} source
 * @param {boolean} [quick] only tests without a GPU
 * @returns {string[]} those first, and what is nearest
 */
export function testsFor(source, quick = false) {
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
