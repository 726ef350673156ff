/**
 * Submits a statement as one job for each range, in one transaction: all of them exist, or none.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DEAD_LETTERS } from './database.js';
import { FarmError } from './errors.js';
import { jobOf } from './statement.js';

/**
 * Submits a statement. A known statement is not submitted again; its sum is there when it is done.
 * A failed one is reopened: its partial sums stay, and its other ranges may fail as often as
 * before.
 *
 * @param {import('./database.js').Database} database
 * @param {import('./statement.js').Statement} statement
 * @param {object} [options]
 * @param {number} [options.leaseSeconds] time a worker has for a range before another gets it:
 *   several times what a range takes
 * @param {number} [options.retryLimit] largest number of retries of a range
 * @param {number} [options.retryDelay] seconds before a retry
 * @param {AbortSignal} [options.signal]
 */
export async function submit(database, statement, { leaseSeconds = 60, retryLimit = 3, retryDelay = 1, signal } = {}) {
  const queues = await database.queues(signal);
  if (queues.length === 0) throw new FarmError('bad-argument', 'the database has no queues. Open a collector first');
  const ranges = statement.tasks.map((task, i) => {
    return { task, first: task.first, job: jobOf(task), queue: /** @type {string} */ (queues[i % queues.length]) };
  });
  const { boss } = database;
  await database.transaction(async (db) => {
    const known = await db.query('insert into farm.statement (id) values ($1) on conflict do nothing', [statement.id]);
    const failed = await db.query(
      `update farm.statement set state = 'open', opened_on = clock_timestamp(), error = null, closed_on = null
       where id = $1 and state = 'failed'`,
      [statement.id],
    );
    if (known.rowCount === 0 && failed.rowCount === 0) return;
    const there = await db.query('select first from farm.partial where statement = $1', [statement.id]);
    const summed = new Set(there.rows.map(({ first }) => first));
    const missing = ranges.filter(({ first }) => !summed.has(first));
    // all sums exist: the collector adds them up after it has checked one again
    if (missing.length === 0)
      await db.query(`update farm.partial set state = 'arrived' where statement = $1 and first = 0`, [statement.id]);
    await db.query(
      `insert into farm.range (statement, first, queue, job, task)
       select $1, first, queue, job, task from jsonb_to_recordset($2) as each (first int, queue text, job uuid, task jsonb)
       on conflict (statement, first) do update set queue = excluded.queue, task = excluded.task`,
      [statement.id, JSON.stringify(ranges)],
    );
    for (const queue of queues) {
      const jobs = missing.filter((each) => each.queue === queue).map(({ job }) => job);
      if (failed.rowCount !== 0 && jobs.length > 0) await boss.deleteJob(queue, jobs, { db });
    }
    await boss.insert(
      missing.map(({ task, job, queue }) => ({
        id: job,
        name: queue,
        data: task,
        expireInSeconds: leaseSeconds,
        retryLimit,
        retryDelay,
        deadLetter: DEAD_LETTERS,
      })),
      { db },
    );
  }, signal);
}

/**
 * Returns the progress of a statement. `audited`: number of ranges whose sum the collector computed
 * itself.
 *
 * @param {import('./database.js').Database} database
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ state: 'open' | 'done' | 'failed', sum: Uint8Array | null, error:
 *   (import('./errors.js').WrittenError & { cause: unknown }) | null, ranges: number, accepted:
 *   number, audited: number }>}
 */
export async function progressOf(database, id, signal) {
  const [row] = await database.transaction(
    async ({ query }) =>
      (
        await query(
          `select state, sum, error,
             (select count(*)::int from farm.range where statement = id) as ranges,
             (select count(*)::int from farm.partial where statement = id and partial.state = 'accepted') as accepted,
             (select count(*)::int from farm.partial where statement = id and audited) as audited
           from farm.statement where id = $1`,
          [id],
        )
      ).rows,
    signal,
  );
  if (row === undefined) throw new FarmError('unknown-statement', `there is no statement ${id}. Submit it first`);
  return row;
}

/**
 * Waits for the sum of a statement, and returns it in the encoding `be`.
 *
 * @param {import('./database.js').Database} database
 * @param {string} id
 * @param {{ signal?: AbortSignal, pollMs?: number, onProgress?: (done: { ranges: number, accepted:
 *   number }) => void }} [options]
 * @returns {Promise<Uint8Array>}
 * @throws {FarmError} the error of a failed statement
 */
export async function sumOf(database, id, { signal, pollMs = 200, onProgress = () => {} } = {}) {
  for (;;) {
    const { state, sum, error, ranges, accepted } = await progressOf(database, id, signal);
    onProgress({ ranges, accepted });
    if (state === 'done') return /** @type {Uint8Array} */ (sum);
    if (error !== null) {
      throw new FarmError(/** @type {import('./errors.js').FarmErrorCode} */ (error.code), error.message, {
        cause: error.cause,
      });
    }
    await sleep(pollMs, undefined, { signal });
  }
}
