import { type ChildProcess, spawn } from 'node:child_process';
import type { Launched } from '../../scripts/browser/launch.js';
import { inProject } from './run-script.js';

/** Starts a Playwright endpoint here. It serves one client at a time, like a device of a farm. */
export interface RunServer {
  readonly endpoint: string;
  readonly process: ChildProcess;
}

/** The browser's libraries come from the server's environment, which a client cannot set. */
export const startRunServer = ({ env }: Launched['launchOptions']): Promise<RunServer> =>
  new Promise((resolve, reject) => {
    const server = spawn(
      process.execPath,
      [
        inProject('node_modules/playwright/cli.js'),
        'run-server',
        '--unsafe',
        ...['--host', '127.0.0.1', '--port', '0', '--max-clients', '1'],
      ],
      { env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`run-server ended with ${code}`)));
    let said = '';
    server.stdout.on('data', (data) => {
      said += data;
      const endpoint = /ws:\/\/\S+/.exec(said)?.[0];
      if (endpoint !== undefined) resolve({ endpoint, process: server });
    });
  });
