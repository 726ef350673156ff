/** The package as `npm pack` makes it, and projects that npm installs it in. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildLibrary, LIBRARY_SOURCES } from './build-library.js';
import { buildTypes, TYPES_SOURCES } from './build-types.js';
import { madeOnce } from './made-once.js';
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

const PACKED = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'];

/**
 * Builds and packs the package. `npm pack` in the repository would write `dist/`, which other tests may be reading.
 *
 * @returns the path of the file
 */
export const packPackage = async (): Promise<string> => {
  const sources = [...LIBRARY_SOURCES, ...TYPES_SOURCES, ...PACKED];
  const folder = await madeOnce('packed', sources, {}, async (made) => {
    const dist = join(made, 'package/dist');
    await buildLibrary(dist);
    await buildTypes(dist);
    for (const name of PACKED) cpSync(inProject(name), join(made, 'package', name));
    const pack = ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', made];
    await runProgram(pack, join(made, 'package'), 60_000);
    rmSync(join(made, 'package'), { recursive: true });
  });
  const [file = ''] = readdirSync(folder);
  return join(folder, file);
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
