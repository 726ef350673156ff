import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inProject } from './run-script.js';

/**
 * Runs a program in Deno, which keeps to a folder of the test.
 *
 * @param args flags, the program, and its arguments
 * @returns what it printed
 */
export const runDeno = (folder: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const flags = ['--no-config', '--no-lock', '--no-remote', '--allow-env'];
    const child = spawn(inProject('node_modules/.bin/deno'), ['run', ...flags, ...args], {
      cwd: folder,
      env: { ...process.env, DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (data) => (said.stdout += data));
    child.stderr.on('data', (data) => (said.stderr += data));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(said.stdout);
      else reject(new Error(`deno ended with ${code}:\n${said.stderr}`));
    });
  });
