/**
 * A worker process, on this machine or on another one with the same files. SIGTERM and SIGINT end
 * it after the current range. If another process started it over IPC, it ends with that process.
 */
import { hostname } from 'node:os';
import { backend, readArguments, share, whole, word } from './arguments.js';
import { FarmError } from './errors.js';
import { work } from './worker.js';

const values = readArguments(
  `FARM_DATABASE=postgres://user:password@host:5432/database node worker-process.js [--name NAME] [--shard 0] [--backend auto|gpu|cpu|both]
  [--max-workers THREADS] [--verify 0] [--poll-ms 500]`,
  {
    name: word(`${hostname()}-${process.pid}`),
    shard: whole(0, 0),
    backend,
    'max-workers': whole(0, undefined),
    verify: share(0),
    'poll-ms': whole(1, 500),
  },
);
// not an argument, because all users of the machine can see arguments
const url = process.env.FARM_DATABASE;
if (url === undefined) {
  console.error(
    'FARM_DATABASE is not set; set it to the address of the database, such as postgres://user:password@host:5432/database',
  );
  process.exit(2);
}

const ending = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => ending.abort());
process.once('disconnect', () => process.exit(1));

try {
  await work({
    url,
    name: values.name,
    shard: values.shard,
    pollMs: values['poll-ms'],
    engine: {
      backend: values.backend,
      verify: values.verify,
      ...(values['max-workers'] === undefined ? {} : { maxWorkers: values['max-workers'] }),
    },
    signal: ending.signal,
    report: (event) => (process.send === undefined ? console.log(JSON.stringify(event)) : process.send(event)),
  });
} catch (error) {
  if (!(error instanceof FarmError)) throw error;
  console.error(`worker-process: ${error.message}`);
  process.exitCode = 1;
}
process.removeAllListeners('disconnect');
if (process.connected) process.disconnect();
