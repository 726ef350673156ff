/**
 * npm run check [-- --built]
 *
 * Checks all that needs no test run: style, types, sizes of the modules, and that generated parts
 * of the pages equal their sources. .githooks/pre-commit calls it. `--built` takes the build that
 * is in dist/.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { built: { type: 'boolean', default: false } } });

const project = fileURLToPath(new URL('..', import.meta.url));

/** @typedef {readonly [name: string, command: string]} Step */

/** Lists that run beside each other. A step runs if those before it passed. @type {readonly Step[][]} */
const lists = [
  [
    ...(values.built ? [] : [/** @type {Step} */ (['build', 'npm run --silent build'])]),
    // the examples import the types of the build
    ['types', 'npm run --silent typecheck'],
    ['sizes', 'node scripts/package/weigh.mjs'],
  ],
  [['style', 'npm run --silent lint']],
  [['pages', 'node scripts/docs/generate.mjs --check']],
];

/**
 * Runs a step, and prints its output if it fails.
 *
 * @param {Step} step
 * @returns {Promise<boolean>} whether it passed
 */
const run = ([name, command]) =>
  new Promise((resolve) => {
    const started = performance.now();
    let output = '';
    const child = spawn(command, { cwd: project, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        output += data;
      });
    child.once('close', (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'passed' : 'FAILED'}  ${name}  ${seconds} s`);
      if (code !== 0) console.log(`\n${output.trimEnd()}\n`);
      resolve(code === 0);
    });
  });

await Promise.all(
  lists.map(async (steps) => {
    let passed = true;
    for (const step of steps) {
      if (passed) passed = await run(step);
      else console.log(`skipped ${step[0]}, as a step before it failed`);
    }
    if (!passed) process.exitCode = 1;
  }),
);
