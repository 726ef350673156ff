import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import { vi } from 'vitest';

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

/** Runs a command of scripts/ in this process, which takes no second. A process of its own has no other arguments. */
export const runHere = async (command: () => Promise<void>, args: readonly string[]): Promise<Outcome> => {
  const { argv, exitCode } = process;
  const said = { stdout: '', stderr: '' };
  const spies = (['log', 'error'] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation((...line) => {
      said[method === 'log' ? 'stdout' : 'stderr'] += `${format(...line)}\n`;
    }),
  );
  process.argv = [process.execPath, 'command', ...args];
  process.exitCode = 0;
  try {
    await command();
    return { code: Number(process.exitCode), ...said };
  } finally {
    process.argv = argv;
    process.exitCode = exitCode;
    for (const spy of spies) spy.mockRestore();
  }
};

/** Runs a script of this project as its npm command does. */
export const runScript = (script: string, args: readonly string[], timeout: number): Promise<Outcome> =>
  runNode([resolve(inProject('.'), script), ...args], { cwd: inProject('.'), timeout });
