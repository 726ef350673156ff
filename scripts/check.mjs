/**
 * npm run check
 *
 * Checks all that needs no test run: style, types, sizes of the modules, and that generated parts
 * of the pages equal their sources. Runs two steps at a time. .githooks/pre-commit calls it.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} command
 * @property {string[]} [after] names of the steps that have to pass before it
 */

/** @type {readonly Step[]} */
const steps = [
  { name: 'build', command: 'npm run --silent build' },
  { name: 'style', command: 'npm run --silent lint' },
  // the examples import the types of the build
  { name: 'types', command: 'npm run --silent typecheck', after: ['build'] },
  { name: 'sizes', command: 'npx --no-install size-limit', after: ['build'] },
  { name: 'pages', command: 'node scripts/docs/generate.mjs --check' },
];

const AT_A_TIME = 2;

/** @type {Map<string, boolean>} outcomes by name */
const passed = new Map();

/** Runs a step, and prints its output if it fails. @param {Step} step @returns {Promise<void>} */
const run = ({ name, command }) =>
  new Promise((resolve) => {
    const started = performance.now();
    let output = '';
    const child = spawn(command, { cwd: project, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        output += data;
      });
    child.once('close', (code) => {
      passed.set(name, code === 0);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'passed' : 'FAILED'}  ${name}  ${seconds} s`);
      if (code !== 0) console.log(`\n${output.trimEnd()}\n`);
      resolve();
    });
  });

/** Takes steps until none is left that may run. @param {Step[]} waiting */
const work = async (waiting, running = new Set()) => {
  for (;;) {
    const next = waiting.findIndex(({ after = [] }) => after.every((name) => passed.get(name) === true));
    if (next >= 0 && running.size < AT_A_TIME) {
      const [step] = waiting.splice(next, 1);
      const promise = run(/** @type {Step} */ (step)).finally(() => running.delete(promise));
      running.add(promise);
    } else if (running.size > 0) await Promise.race(running);
    else return waiting;
  }
};

const skipped = await work([...steps]);
for (const { name, after = [] } of skipped) console.log(`skipped ${name}, as ${after.join(' and ')} failed`);
if (skipped.length > 0 || [...passed.values()].includes(false)) process.exitCode = 1;
