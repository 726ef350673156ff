/**
 * node examples/farm/main.js [--workers 2] [--n 65536] [--ranges 8] [--statements 3] [--backend auto] [--max-workers 0] [--audit 0.0625]
 *   [--database postgres://…]
 *
 * A farm on one machine: PostgreSQL, a collector, workers. It makes statements whose sums are known, one after the other over the same bases, has them computed, and compares.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Collector } from './collector.js';
import { Database } from './database.js';
import { startPostgres } from './postgres.js';
import { makeBases, makeScalars } from './sample.js';
import { startWorker } from './start-worker.js';
import { describe } from './statement.js';
import { submit, sumOf } from './submit.js';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    n: { type: 'string', default: '65536' },
    ranges: { type: 'string', default: '8' },
    statements: { type: 'string', default: '3' },
    backend: { type: 'string', default: 'auto' },
    'max-workers': { type: 'string' },
    audit: { type: 'string', default: '0.0625' },
    database: { type: 'string' },
  },
});
const workers = Number(values.workers);
const n = Number(values.n);

const folder = await mkdtemp(join(tmpdir(), 'webgpu-msm-farm-'));
/** @type {Awaited<ReturnType<typeof startPostgres>> | undefined} */
let postgres;
/** @type {Database | undefined} */
let database;
/** @type {import('node:child_process').ChildProcess[]} */
const started = [];
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort());
/** @type {Collector | undefined} */
let collector;

async function close() {
  const ended = started
    .filter((worker) => worker.exitCode === null && worker.signalCode === null)
    .map((worker) => new Promise((settle) => worker.once('exit', settle)));
  for (const worker of started) worker.kill();
  await Promise.all(ended);
  await collector?.close();
  await database?.close();
  await postgres?.remove();
  await rm(folder, { recursive: true, force: true });
}

try {
  let url = values.database;
  if (url === undefined) {
    postgres = await startPostgres();
    url = postgres.url;
  }
  database = new Database(url);
  collector = await Collector.open(database, {
    shards: workers,
    auditShare: Number(values.audit),
    pollMs: 20,
    report: (event) => {
      if (event.event !== 'accepted' && event.event !== 'done') console.log(JSON.stringify(event));
    },
  });
  /** Ranges by worker. @type {Map<string, number>} */
  const delivered = new Map();
  const ready = Array.from(
    { length: workers },
    (_, shard) =>
      new Promise((settle, reject) => {
        const name = `worker-${shard}`;
        const engine = {
          backend: values.backend,
          ...(values['max-workers'] === undefined ? {} : { 'max-workers': values['max-workers'] }),
        };
        const worker = startWorker({ database: url, name, shard, 'poll-ms': 50, ...engine }, (event) => {
          if (event.event === 'ready') settle(event);
          else if (event.event === 'delivered') delivered.set(name, (delivered.get(name) ?? 0) + 1);
          else if (event.event === 'failed' || event.event === 'lost') console.log(name, JSON.stringify(event));
        });
        worker.once('error', reject);
        worker.once('exit', (code, signal) => {
          reject(new Error(`${name} ended: ${signal ?? `code ${code}`}`));
          if (started.every((each) => each.exitCode !== null || each.signalCode !== null))
            ending.abort(new Error('all workers ended'));
        });
        started.push(worker);
      }),
  );
  // the ranges of one that ends later are another's
  for (const each of ready) each.catch(() => {});
  await Promise.all(ready);

  const bases = await makeBases(folder, n);
  for (let i = 0; i < Number(values.statements); i++) {
    const scalars = await makeScalars(join(folder, `scalars-${i}.bin`), n, bases.k);
    delivered.clear();
    const begun = performance.now();
    const statement = await describe({ curve: 'bn254', bases, scalars, ranges: Number(values.ranges) });
    const described = performance.now();
    await submit(database, statement);
    const sum = await sumOf(database, statement.id, {
      pollMs: 20,
      signal: ending.signal,
    });
    const done = performance.now();
    if (Buffer.compare(sum, scalars.expected) !== 0) throw new Error(`the sum of statement ${statement.id} is wrong`);
    const shares = [...delivered].map(([name, count]) => `${name} ${count}`).sort();
    console.log(
      `statement ${i + 1}: ${n} points in ${statement.tasks.length} ranges, right; digests ${(described - begun).toFixed(0)} ms, ` +
        `from there to the sum ${(done - described).toFixed(0)} ms; ranges: ${shares.join(', ')}`,
    );
  }
} finally {
  await close();
}
