/**
 * node worker-process.js --database postgres://… [--name NAME] [--shard 0] [--backend auto] [--max-workers 0] [--verify 0] [--poll-ms 500]
 *
 * One worker: a process, on this machine or on another one that sees the same files. It ends when it is told to (SIGTERM, SIGINT), after the range in hand;
 * or, where another process started it over IPC, with that process.
 */
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { FarmError } from './errors.js';
import { work } from './worker.js';

const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    name: { type: 'string', default: `${hostname()}-${process.pid}` },
    shard: { type: 'string', default: '0' },
    backend: { type: 'string', default: 'auto' },
    'max-workers': { type: 'string' },
    verify: { type: 'string', default: '0' },
    'poll-ms': { type: 'string', default: '500' },
  },
});
if (values.database === undefined) {
  console.error('worker-process: --database is missing, such as postgres://user:password@host:5432/postgres');
  process.exit(2);
}

const ending = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => ending.abort());
process.once('disconnect', () => process.exit(1));

try {
  await work({
    url: values.database,
    name: values.name,
    shard: Number(values.shard),
    pollMs: Number(values['poll-ms']),
    engine: {
      backend: /** @type {'auto' | 'gpu' | 'cpu' | 'both'} */ (values.backend),
      verify: Number(values.verify),
      ...(values['max-workers'] === undefined ? {} : { maxWorkers: Number(values['max-workers']) }),
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
