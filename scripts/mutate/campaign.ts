/** Tries mutants out. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from '../builds.mjs';
import { onAdapter, progress, say, UsageError, type Values } from '../command-line.js';
import type { options } from '../mutate.js';
import { explains, explanations, type Mutant, mutantsOf, shuffled, sources } from './mutants.js';
import { applied } from './operators.js';
import { testsFor } from './tests-for.js';
import { endWorker, noticedBy } from './try-out.js';
import { compiles } from './typescript.js';

type Outcome = 'killed' | 'survived' | 'explained';

/**
 * Runs the tests on a mutant. A mutant that is explained is not run.
 *
 * @param tests the tests that could notice it
 * @returns `by` names the test, or gives the reason
 */
async function tryOut(mutant: Mutant, tests: readonly string[]): Promise<{ outcome: Outcome; by: string }> {
  const why = explanations.find((each) => explains(each, mutant));
  if (why !== undefined) return { outcome: 'explained', by: why.reason };
  const by = await noticedBy(tests, mutant);
  if (by !== null) return { outcome: 'killed', by };
  const path = join(project, mutant.file);
  // the type checker is slower than most tests, so it runs last
  const fails = path.endsWith('.ts') && !compiles(path, applied(readFileSync(path, 'utf8'), mutant));
  return fails ? { outcome: 'killed', by: 'the compiler' } : { outcome: 'survived', by: '' };
}

const table = (tried: (Mutant & { outcome: Outcome })[]) =>
  Object.fromEntries(
    [...new Set(tried.map(({ file }) => file)).add('')].sort().map((name) => {
      const of = tried.filter(({ file }) => name === '' || file === name);
      const count = (wanted: Outcome) => of.filter(({ outcome }) => outcome === wanted).length;
      const counts = { killed: count('killed'), survived: count('survived'), explained: count('explained') };
      return [name || 'all', counts];
    }),
  );

export async function campaign({ adapter, minutes, seed, files, lines, quick, json }: Values<typeof options>) {
  const chosen = sources.filter(
    (file) => files.some((word) => file.includes(word)) && testsFor(file, quick).length > 0,
  );
  if (chosen.length === 0) throw new UsageError(`--files: no source's path contains ${files.join(' or ')}`);
  await onAdapter(adapter, async () => {
    const mutants = shuffled(seed, chosen.flatMap(mutantsOf)).filter(({ row }) => lines?.includes(row) ?? true);
    const started = performance.now();
    const tried: (Mutant & { outcome: Outcome; by: string })[] = [];
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
