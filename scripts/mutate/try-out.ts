/** Runs tests on mutants, and ends the tests of a mutant that hangs. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, project } from '../builds.mjs';
import { say } from '../command-line.js';
import type { Mutant } from './mutants.js';
import type { Results, Task } from './worker.js';

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
export async function noticedBy(tests: readonly string[], mutant: Mutant): Promise<string | null> {
  for (const test of tests.filter((each) => !healthy.has(each))) {
    const { [test]: result } = await runTests({ tests: [test] }, HEALTHY_MS);
    if (result?.failed) say(`${test} fails without a change and is left out`);
    healthy.set(test, result === undefined || result.failed ? null : result.ms);
  }
  const able = tests.filter((test) => healthy.get(test) !== null);
  if (able.length === 0) throw new Error(`no test of ${mutant.file} passes without a change`);
  const ms = able.reduce((sum, test) => sum + (healthy.get(test) ?? 0), 0);
  const results = await runTests({ tests: able, mutant }, HANG_LIMIT.times * ms + HANG_LIMIT.ms);
  return Object.entries(results).find(([, { failed }]) => failed)?.[0] ?? null;
}
