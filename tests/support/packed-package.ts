/** The package as `npm pack` makes it, and projects that npm installs it in. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildLibrary } from './build-library.js';
import { buildTypes } from './build-types.js';
import { inProject } from './run-script.js';

/**
 * Runs a program to its end, and gives what it wrote.
 *
 * @throws Error with all that it wrote, if it fails or takes longer than `timeout` milliseconds
 */
export const runProgram = (
  command: readonly string[],
  cwd: string,
  timeout: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> =>
  new Promise((settle, reject) => {
    const [program = '', ...options] = command;
    const child = spawn(program, options, {
      ...{ cwd, env, timeout },
      stdio: ['ignore', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) settle(said);
      else reject(new Error(`${command.join(' ')} ended with ${code}:\n${said}`));
    });
  });

/**
 * Builds and packs the package in a folder of its own: `npm pack` in the repository would write
 * `dist/`, which other tests may be reading.
 *
 * @returns the path of the file
 */
export const packPackage = async (folder: string): Promise<string> => {
  const packed = join(folder, 'package');
  const dist = join(packed, 'dist');
  await buildLibrary(dist);
  buildTypes(dist);
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']) {
    cpSync(inProject(name), join(packed, name));
  }
  const pack = ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  return join(folder, (await runProgram(pack, packed, 60_000)).trim());
};

/**
 * Makes a project and has npm install packages in it.
 *
 * @param packages as for `npm install`: names with versions, aliases, paths of packed packages
 * @param manifest further members of its `package.json`
 */
export const installProject = async (
  folder: string,
  packages: readonly string[],
  manifest: object = {},
): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', ...manifest }));
  const quiet = ['--silent', '--no-audit', '--no-fund', '--prefer-offline'];
  await runProgram(['npm', 'install', ...quiet, ...packages], folder, 180_000);
};
