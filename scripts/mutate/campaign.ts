/** Tries mutants out. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, project } from '../builds.mjs';
import { onAdapter, progress, say, UsageError, type Values } from '../command-line.js';
import type { options } from '../mutate.js';
import { explains, explanations, type Mutant, mutantsOf, shuffled, sources } from './mutants.js';
import { applied } from './operators.js';
import { testsFor } from './tests-for.js';
import { compiles } from './typescript.js';
import type { Results, Task } from './worker.js';

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

/** Tests notice a change if they take longer than `times` their time without it, plus `ms`. */
const HANG_LIMIT = { times: 3, ms: 10_000 };
/** Time limit of tests without a change, which may compile all kernels. */
const HEALTHY_MS = 3_600_000;

let worker: ChildProcess | undefined;

/** Ends the worker and the processes that it has started. */
export function endWorker() {
  const pid = worker?.pid;
  worker = undefined;
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // the processes have ended already
  }
}
process.once('exit', endWorker);

/** Runs tests in the worker. @param ms time limit */
function runTests(task: Task, ms: number): Promise<Results> {
  if (worker === undefined) ensureBuilt('bench');
  worker ??= fork(join(project, 'dist-bench/mutate-worker.js'), { detached: true, stdio: 'ignore' });
  const running = worker;
  return new Promise((resolve) => {
    const give = (what: string) => {
      end({ [what]: { failed: true, ms } });
      endWorker();
    };
    const died = () => give('the end of the tests’ process');
    const end = (results: Results) => {
      clearTimeout(timer);
      running.off('exit', died).off('message', end);
      resolve(results);
    };
    const timer = setTimeout(() => give('the time limit'), ms);
    running.once('exit', died).once('message', end).send(task);
  });
}

/** Times of tests without a change, in ms; null for a test that fails. */
const healthy = new Map<string, number | null>();

/**
 * Runs tests on a mutant until one fails.
 *
 * @returns the test that noticed; null if none did
 * @throws Error if no test passes without a change
 */
export async function noticedBy(
  tests: readonly string[],
  mutant: Mutant,
  hangLimit = HANG_LIMIT,
): Promise<string | null> {
  for (const test of tests.filter((each) => !healthy.has(each))) {
    const { [test]: result } = await runTests({ tests: [test] }, HEALTHY_MS);
    if (result?.failed) say(`${test} fails without a change and is left out`);
    healthy.set(test, result === undefined || result.failed ? null : result.ms);
  }
  const able = tests.filter((test) => healthy.get(test) !== null);
  if (able.length === 0) throw new Error(`no test of ${mutant.file} passes without a change`);
  const ms = able.reduce((sum, test) => sum + (healthy.get(test) ?? 0), 0);
  const results = await runTests({ tests: able, mutant }, hangLimit.times * ms + hangLimit.ms);
  return Object.entries(results).find(([, { failed }]) => failed)?.[0] ?? null;
}
