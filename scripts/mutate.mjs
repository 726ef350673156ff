/**
 * npm run stress -- mutate --minutes 480 --seed 1
 *
 * Changes one thing in a source of the library, thousands of times, and runs the tests that could
 * notice. A mutant that no test notices needs a test, or a reason in
 * scripts/mutate/harmless.json. Files stay unchanged: a source is changed as a test loads it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from './builds.mjs';
import {
  adapterOption,
  anyText,
  flag,
  integer,
  listOf,
  onAdapter,
  outputFile,
  progress,
  say,
  UsageError,
  valued,
} from './command-line.mjs';
import { explains, explanations, mutantsOf, shuffled, sources } from './mutate/mutants.mjs';
import { applied } from './mutate/operators.mjs';
import { testsFor } from './mutate/tests-for.mjs';
import { endWorker, noticedBy } from './mutate/try-out.mjs';
import { compiles } from './mutate/typescript.mjs';

/** @typedef {import('./mutate/mutants.mjs').Mutant} Mutant */
/** @typedef {'killed' | 'survived' | 'explained'} Outcome */

export const command = {
  usage: 'usage: npm run stress -- mutate [options]',
  options: {
    minutes: valued('10', 'duration', integer(1, 10_000), 10),
    seed: valued('1', 'seed of the order; the same seed gives the same order', integer(0, 2 ** 31), 1),
    files: valued('survey,wgsl/sort', 'only sources whose path contains one of these words', listOf(anyText), ['']),
    lines: valued('40,41', 'only changes that begin in one of these lines', listOf(integer(1, 10_000))),
    quick: flag('only tests without a GPU, and only sources that such tests are about'),
    json: valued('FILE', 'write every mutant and its outcome as JSON', outputFile),
    adapter: adapterOption,
  },
  notes:
    'Exit code: 0 every mutant is noticed, or explained in scripts/mutate/harmless.json · 1 one is not · 2 bad usage',
};

/**
 * Runs the tests on a mutant. A mutant that is explained is not run.
 *
 * @param {Mutant} mutant
 * @param {readonly string[]} tests the tests that could notice it
 * @returns {Promise<{ outcome: Outcome, by: string }>} `by` names the test, or gives the reason
 */
async function tryOut(mutant, tests) {
  const why = explanations.find((each) => explains(each, mutant));
  if (why !== undefined) return { outcome: 'explained', by: why.reason };
  const by = await noticedBy(tests, mutant);
  if (by !== null) return { outcome: 'killed', by };
  const path = join(project, mutant.file);
  // the type checker is slower than most tests, so it runs last
  const fails = path.endsWith('.ts') && !compiles(path, applied(readFileSync(path, 'utf8'), mutant));
  return fails ? { outcome: 'killed', by: 'the compiler' } : { outcome: 'survived', by: '' };
}

/** Counts outcomes, by file and in total. @param {(Mutant & { outcome: Outcome })[]} tried */
const table = (tried) =>
  Object.fromEntries(
    [...new Set(tried.map(({ file }) => file)).add('')].sort().map((name) => {
      const of = tried.filter(({ file }) => name === '' || file === name);
      const count = (/** @type {Outcome} */ wanted) => of.filter(({ outcome }) => outcome === wanted).length;
      const counts = { killed: count('killed'), survived: count('survived'), explained: count('explained') };
      return [name || 'all', counts];
    }),
  );

/** Tries mutants out. @param {import('./command-line.mjs').Values<typeof command.options>} options */
export async function run({ adapter, minutes, seed, files, lines, quick, json }) {
  const chosen = sources.filter(
    (file) => files.some((word) => file.includes(word)) && testsFor(file, quick).length > 0,
  );
  if (chosen.length === 0) throw new UsageError(`--files: no source's path contains ${files.join(' or ')}`);
  await onAdapter(adapter, async () => {
    const mutants = shuffled(seed, chosen.flatMap(mutantsOf)).filter(({ row }) => lines?.includes(row) ?? true);
    const started = performance.now();
    /** @type {(Mutant & { outcome: Outcome, by: string })[]} */
    const tried = [];
    for (const mutant of mutants) {
      const seconds = Math.round((performance.now() - started) / 1000);
      if (seconds > 60 * minutes) break;
      progress(`${seconds} s: ${tried.length} of ${mutants.length} mutants; ${mutant.file}:${mutant.row}`);
      const { outcome, by } = await tryOut(mutant, testsFor(mutant.file, quick));
      tried.push({ ...mutant, outcome, by });
      if (outcome === 'survived') say(`${mutant.file}:${mutant.row} ${mutant.what}\n  ${mutant.line}`);
      if (json !== undefined) writeFileSync(json, `${JSON.stringify(tried, null, 1)}\n`);
    }
    progress('');
    endWorker();
    console.log(`${tried.length} of ${mutants.length} mutants`);
    console.table(table(tried));
    if (tried.some(({ outcome }) => outcome === 'survived')) process.exitCode = 1;
  });
}
