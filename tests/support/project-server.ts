/** Programs and servers of projects that npm installed in a folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runProgram } from './packed-package.js';
import { serveFolder } from './worker-place.js';

const environment = { ...process.env, NODE_ENV: undefined, NEXT_TELEMETRY_DISABLED: '1' };

/** Runs a program that npm installed in a project to its end. @param timeout in milliseconds */
export const runIn = (
  project: string,
  [program = '', ...options]: readonly string[],
  timeout = 240_000,
): Promise<string> =>
  runProgram([join(project, 'node_modules/.bin', program), ...options], project, timeout, environment);

/** Calls `visit` with the origin of a folder that a bundler wrote, while it is served. */
export const whileFolderServed = async (
  folder: string,
  visit: (origin: string) => Promise<void>,
  ...more: Rest<Parameters<typeof serveFolder>>
): Promise<void> => {
  const { server, origin } = await serveFolder(folder, ...more);
  try {
    await visit(origin);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

type Rest<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Tail] ? Tail : never;

const freePort = (): Promise<number> =>
  new Promise((settle, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => settle(port));
    });
  });

const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Starts a server of a project, and calls `visit` with an address on it once it answers there. */
export const whileProjectServed = async (
  project: string,
  commandOf: (port: string) => readonly string[],
  visit: (url: string) => Promise<void>,
  path = '',
): Promise<void> => {
  const port = await freePort();
  const [program = '', ...options] = commandOf(String(port));
  // a process group of its own: some start others, which have to end with them
  const child = spawn(join(project, 'node_modules/.bin', program), options, {
    ...{ cwd: project, env: environment as NodeJS.ProcessEnv, detached: true },
    // esbuild's server ends when nobody can write to it any more
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
  const closed = new Promise((settle) => child.once('close', settle));
  try {
    const url = `http://127.0.0.1:${port}/${path}`;
    const isThere = () =>
      fetch(url, { signal: AbortSignal.timeout(60_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(async () => ended(child) || (await isThere()), { timeout: 120_000, interval: 200 }).toBe(true);
    expect(ended(child), said).toBe(false);
    await visit(url);
  } finally {
    if (!ended(child)) process.kill(-(child.pid as number), 'SIGKILL');
    await closed;
  }
};
