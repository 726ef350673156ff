/**
 * npm run example -- page | prover | ceremony | farm
 *
 * Builds the package, then runs one of the examples with it: a page with one sum, a page that
 * proves a circuit, a page that contributes to a setup, or a farm of workers. Arguments after the name go to the example.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runTypeScript } from './typescript.mjs';

const project = fileURLToPath(new URL('..', import.meta.url));

/** Programs by example, without their last arguments. @type {Readonly<Record<string, readonly string[]>>} */
const examples = {
  page: ['npx', '--no-install', 'vite', 'examples/page'],
  prover: ['npx', '--no-install', 'vite', 'examples/prover'],
  ceremony: ['npx', '--no-install', 'vite', 'examples/ceremony'],
  farm: [process.execPath, 'examples/farm/main.js'],
};

/** Runs a program in the project. @param {readonly string[]} command @returns {number} its exit code */
const run = ([program = '', ...args]) => {
  const isCommand = program === 'npm' || program === 'npx';
  // npm and npx are batch files on Windows, which only a shell starts
  const shell = isCommand && process.platform === 'win32';
  return spawnSync(program, args, { cwd: project, stdio: 'inherit', shell }).status ?? 1;
};

const [name = 'page', ...rest] = process.argv.slice(2);
const command = Object.hasOwn(examples, name) ? examples[name] : undefined;
if (command === undefined) {
  const names = Object.keys(examples).join(' | ');
  const isHelp = name === '--help' || name === '-h';
  (isHelp ? console.log : console.error)(
    `${isHelp ? '' : `there is no example ${name}\n`}usage: npm run example -- ${names} [options of the example]`,
  );
  process.exitCode = isHelp ? 0 : 2;
} else {
  if (name === 'prover') await runTypeScript('scripts/sample-circuit.ts');
  process.exitCode = run(['npm', 'run', '--silent', 'build']) || run([...command, ...rest]);
}
