/**
 * A worker process, on this machine or on another one with the same files: it takes jobs, computes
 * them, and delivers the results. If it dies, another worker gets its job when the lease expires.
 *
 * SIGTERM and SIGINT end it after the current job. Started over IPC, it ends with its parent.
 */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Database, QUEUE } from './database.js';
import { Engines } from './engines.js';
import { FarmError, written } from './jobs.js';

const { values } = parseArgs({
  options: {
    name: { type: 'string', default: `${hostname()}-${process.pid}` },
    backend: { type: 'string', default: 'auto' },
    'max-workers': { type: 'string' },
    verify: { type: 'string', default: '0' },
    'poll-ms': { type: 'string', default: '500' },
  },
});
// not an argument, because all users of the machine can see arguments
const url = process.env.FARM_DATABASE;
if (url === undefined) {
  console.error('FARM_DATABASE is not set; set it to postgres://user:password@host:5432/database');
  process.exit(2);
}

const { name } = values;
const ending = new AbortController();
const { signal } = ending;
for (const each of ['SIGTERM', 'SIGINT']) process.once(each, () => ending.abort());
process.once('disconnect', () => process.exit(1));

/** @param {object} event */
const report = (event) => (process.send === undefined ? console.log(JSON.stringify(event)) : process.send(event));

/** @param {number} ms */
const pause = (ms) => sleep(ms * (0.5 + Math.random()), undefined, { signal }).catch(() => {});

/** Codes of errors of a job, not of its worker, which goes on at once. */
const OF_JOBS = ['bad-argument', 'not-on-curve', 'not-in-subgroup', 'file-missing', 'file-changed'];

/** Pauses after failures of the worker in a row, so that healthy workers come first. */
const REST_MS = { first: 250, most: 30_000 };

const database = new Database(url, (error) => report({ event: 'lost', ...written(error) }));
const { boss } = database;
const engines = new Engines({
  backend: /** @type {NonNullable<import('./engines.js').EngineOptions['backend']>} */ (values.backend),
  verify: Number(values.verify),
  ...(values['max-workers'] !== undefined && { maxWorkers: Number(values['max-workers']) }),
});

/** @param {any} task */
async function compute(task) {
  if (task?.kind === 'proof') return engines.prove(task);
  if (task?.kind !== 'range') throw new FarmError('bad-argument', 'the job is neither a proof nor a range');
  const { sum, on } = await engines.sumOf(task);
  return { sum: Buffer.from(sum).toString('hex'), on };
}

/** Hands a job back, unless its lease has expired. @param {any} job @param {unknown} error */
async function handBack(job, error) {
  const now = await boss.getJobById(QUEUE, job.id, { includeArchive: false });
  if (now?.state === 'active' && now.retryCount === job.retryCount)
    await boss.fail(QUEUE, job.id, { ...written(error), worker: name });
}

async function work() {
  // an engine of any curve shows whether the worker can compute
  await engines.of({ curve: 'bn254', group: 'g1' }).catch((cause) => {
    throw new FarmError('no-engine', `worker ${name} cannot compute: ${cause.message}`, { cause });
  });
  while (!signal.aborted && !(await database.isReady())) await pause(Number(values['poll-ms']));
  report({ event: 'ready' });
  for (let failures = 0; !signal.aborted; ) {
    const [job] = await boss.fetch(QUEUE, { includeMetadata: true });
    if (job === undefined) {
      await pause(Number(values['poll-ms']));
      continue;
    }
    const what = { id: job.id, attempt: job.retryCount + 1 };
    report({ event: 'taken', ...what });
    const begun = performance.now();
    try {
      const result = await compute(job.data);
      // of two results of a job the first counts
      await boss.complete(QUEUE, job.id, { ...result, worker: name });
      report({ event: 'delivered', ...what, on: 'on' in result ? result.on : null, ms: performance.now() - begun });
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      await handBack(job, error);
      const why = written(error);
      report({ event: 'failed', ...what, ...why });
      if (!OF_JOBS.includes(why.code)) await pause(Math.min(REST_MS.first * 2 ** failures++, REST_MS.most));
    }
  }
}

try {
  await work();
} catch (error) {
  if (!(error instanceof FarmError)) throw error;
  console.error(`worker: ${error.message}`);
  process.exitCode = 1;
} finally {
  await engines.close();
  await database.close();
}
process.removeAllListeners('disconnect');
if (process.connected) process.disconnect();
