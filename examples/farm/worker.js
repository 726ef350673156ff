/** A worker: takes ranges, computes their sums, delivers them. Whatever happens to it, somebody else gets its range when its lease is over. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from './database.js';
import { Engines } from './engines.js';
import { FarmError, written } from './errors.js';
import { isTask, namesRange } from './statement.js';

/** @typedef {import('pg-boss').JobWithMetadata<import('./statement.js').Task>} Job */

/**
 * What a worker tells. `attempt` counts from 1. `skipped`: its sum was there already. `delivered`: `counted` says whether its sum was the first of this range; `agreed`, if it was not, whether it is the same sum.
 * `lost`: the database is not there; it goes on when it is.
 *
 * @typedef {(
 *   | { event: 'ready', shard: number }
 *   | { event: 'taken', statement: string, first: number, attempt: number }
 *   | { event: 'skipped', statement: string, first: number, attempt: number }
 *   | { event: 'delivered', statement: string, first: number, attempt: number, counted: boolean, agreed: boolean, on: 'gpu' | 'cpu' | 'both' | null, ms: number }
 *   | { event: 'failed', statement: string, first: number, attempt: number, code: string, message: string }
 *   | { event: 'lost', code: string, message: string }
 * )} WorkerEvent
 */

/** Between two queries of one transaction a worker computes nothing: one that is silent for so long is halted, or gone. */
const IDLE_MS = 5000;

/** After a failure of its own, twice as long after each more: if it is the worker that is broken, others are to come first. */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;

/** What is wrong with a job and not with its worker, which goes on at once: its data, its points, and that there is no such range (PostgreSQL's foreign_key_violation). */
const OF_JOBS = ['bad-argument', 'not-on-curve', 'not-in-subgroup', '23503'];

/**
 * Works until `signal` is aborted; the range in hand is finished first.
 *
 * @param {object} options
 * @param {string} options.url of the database
 * @param {string} options.name by which it is known: its sums are kept under it
 * @param {number} [options.shard] the queue that it looks at first
 * @param {number} [options.pollMs] how long it waits when there was nothing
 * @param {import('./engines.js').EngineOptions} [options.engine]
 * @param {AbortSignal} options.signal
 * @param {(event: WorkerEvent) => void} [options.report]
 * @throws {FarmError} `no-engine`, before it takes anything
 */
export async function work({ url, name, shard = 0, pollMs = 500, engine = {}, signal, report = () => {} }) {
  const database = new Database(url, {
    idleMs: IDLE_MS,
    onLost: (error) => report({ event: 'lost', ...written(error) }),
  });
  const engines = new Engines(engine);
  const { boss } = database;
  const pause = () => sleep(pollMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {});

  /** Until there are any. */
  const someQueues = async () => {
    for (;;) {
      const queues = await database.queues(signal);
      if (queues.length > 0) return queues;
      await pause();
      signal.throwIfAborted();
    }
  };

  /**
   * The next job of a queue, in the worker's hands for as long as its lease.
   *
   * @param {string} queue
   */
  const take = (queue) =>
    database.transaction(async (db) => {
      const [job] = /** @type {Job[]} */ (await boss.fetch(queue, { db, includeMetadata: true }));
      if (job === undefined) return null;
      if (!namesRange(job.data)) return { job, summed: false };
      const { statement, first } = job.data;
      const there = await db.query('select from farm.partial where statement = $1 and first = $2', [statement, first]);
      // its sum arrived, though whoever brought it no longer held the job
      if (there.rowCount !== 0) await boss.complete(queue, job.id, {}, { db });
      return { job, summed: there.rowCount !== 0 };
    }, signal);

  /**
   * The sum is kept and the job is done, both or neither. Not ended by `signal`: what is computed is delivered.
   *
   * @param {Job} job
   * @param {Uint8Array} sum
   */
  const deliver = (job, sum) =>
    database.transaction(async (db) => {
      // a second sum of the same range counts nothing; if it is another one, the collector has to see which is right
      const { rows } = await db.query(
        `insert into farm.partial as there (statement, first, sum, worker) values ($1, $2, $3, $4)
         on conflict (statement, first) do update set state = 'doubted', rival = excluded.worker, rival_sum = excluded.sum
           where there.sum <> excluded.sum
         returning state`,
        [job.data.statement, job.data.first, sum, name],
      );
      await boss.complete(job.name, job.id, {}, { db });
      return { counted: rows[0]?.state === 'arrived', agreed: rows[0]?.state !== 'doubted' };
    });

  /**
   * Hands a job back, unless it is no longer this worker's.
   *
   * @param {Job} job
   * @param {unknown} error
   */
  const handBack = (job, error) =>
    database.transaction(async (db) => {
      const now = await boss.getJobById(job.name, job.id, { db, includeArchive: false });
      if (now?.state !== 'active' || now.retryCount !== job.retryCount) return;
      await boss.fail(job.name, job.id, { ...written(error), worker: name }, { db });
    });

  try {
    // any curve shows whether there is a device
    await engines.of({ curve: 'bn254', group: 'g1' }).catch((cause) => {
      throw new FarmError('no-engine', `worker ${name} cannot compute: ${cause.message}`, { cause });
    });
    let queues = await someQueues();
    report({ event: 'ready', shard: shard % queues.length });
    let failures = 0;
    while (!signal.aborted) {
      const own = shard % queues.length;
      // its own queue, then one of the others: nobody is idle where there is work, and idle workers ask twice a turn however many queues there are
      const other = (own + 1 + Math.floor(Math.random() * (queues.length - 1))) % queues.length;
      const taken =
        (await take(/** @type {string} */ (queues[own]))) ?? (await take(/** @type {string} */ (queues[other])));
      if (taken === null) {
        await pause();
        // a collector may have opened more
        queues = await someQueues();
        continue;
      }
      const { job, summed } = taken;
      const { statement, first } = job.data ?? {};
      const what = { statement, first, attempt: job.retryCount + 1 };
      report({ event: summed ? 'skipped' : 'taken', ...what });
      if (summed) continue;
      const begun = performance.now();
      try {
        if (!isTask(job.data)) throw new FarmError('bad-argument', `job ${job.id} is no range of a statement`);
        const { sum, on } = await engines.sumOf(job.data);
        const ms = performance.now() - begun;
        report({ event: 'delivered', ...what, ...(await deliver(job, sum)), on, ms });
        failures = 0;
      } catch (error) {
        await handBack(job, error);
        const why = written(error);
        report({ event: 'failed', ...what, ...why });
        if (OF_JOBS.includes(why.code)) continue;
        const rest = Math.min(FIRST_REST_MS * 2 ** failures++, LONGEST_REST_MS);
        await sleep(rest, undefined, { signal }).catch(() => {});
      }
    }
  } catch (error) {
    // what waited for a database, or for queues, when it was told to end
    if (!signal.aborted) throw error;
  } finally {
    await engines.close();
    await database.close();
  }
}
