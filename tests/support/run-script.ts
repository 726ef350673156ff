import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Output and exit code of a process. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a Node program to its end and returns the outcome, also of a failure. */
export const runNode = (
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv; readonly timeout: number },
): Promise<Outcome> =>
  new Promise((settle, reject) => {
    const child = spawn(process.execPath, [...args], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (data) => (said.stdout += data));
    child.stderr.on('data', (data) => (said.stderr += data));
    child.once('error', reject);
    child.once('close', (code) => settle({ code, ...said }));
  });

/** Runs a script of this project as its npm command does. */
export const runScript = (script: string, args: readonly string[], timeout: number): Promise<Outcome> =>
  runNode([resolve(inProject('.'), script), ...args], { cwd: inProject('.'), timeout });
