/** Has tests run on mutants, and a mutant killed that does not end. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { say } from '../command-line.mjs';

/** A change is noticed by tests that take longer than so many times what they take without, and this much more. */
const PATIENCE = { times: 3, ms: 10_000 };
/** What goes before may compile all that there is. */
const HEALTHY_MS = 3_600_000;

/** @type {import('node:child_process').ChildProcess | undefined} */
let worker;

/** With the processes that it has started. */
export function endWorker() {
  const pid = worker?.pid;
  worker = undefined;
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // nothing of it is left
  }
}
process.once('exit', endWorker);

/**
 * @param {import('./worker.mjs').Task} task
 * @param {number} ms how long it may take
 * @returns {Promise<import('./worker.mjs').Results>}
 */
function runTests(task, ms) {
  worker ??= fork(fileURLToPath(new URL('./worker.mjs', import.meta.url)), { detached: true, stdio: 'ignore' });
  const running = worker;
  return new Promise((resolve) => {
    const give = (/** @type {string} */ what) => {
      end({ [what]: { failed: true, ms } });
      endWorker();
    };
    const died = () => give('the process of the tests ends');
    const end = (/** @type {import('./worker.mjs').Results} */ results) => {
      clearTimeout(timer);
      running.off('exit', died).off('message', end);
      resolve(results);
    };
    const timer = setTimeout(() => give('it does not end'), ms);
    running.once('exit', died).once('message', end).send(task);
  });
}

/** How long tests take without a change; null for those that fail without one. @type {Map<string, number | null>} */
const healthy = new Map();

/**
 * @param {readonly string[]} tests
 * @param {import('./mutants.mjs').Mutant} mutant
 * @returns {Promise<string | null>} the test that noticed
 * @throws Error if there is none to ask
 */
export async function noticedBy(tests, mutant) {
  for (const test of tests.filter((each) => !healthy.has(each))) {
    const { [test]: result } = await runTests({ tests: [test] }, HEALTHY_MS);
    if (result?.failed) say(`${test} fails as it is: it is left out`);
    healthy.set(test, result === undefined || result.failed ? null : result.ms);
  }
  const able = tests.filter((test) => healthy.get(test) !== null);
  if (able.length === 0) throw new Error(`no test of ${mutant.file} passes as it is`);
  const ms = able.reduce((sum, test) => sum + (healthy.get(test) ?? 0), 0);
  const results = await runTests({ tests: able, mutant }, PATIENCE.times * ms + PATIENCE.ms);
  return Object.entries(results).find(([, { failed }]) => failed)?.[0] ?? null;
}
