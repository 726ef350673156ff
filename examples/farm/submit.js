/** A statement becomes jobs, one for each range, in one transaction: all of it is there, or nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DEAD_LETTERS } from './database.js';
import { FarmError } from './errors.js';
import { jobOf } from './statement.js';

/**
 * Submitting a statement again does nothing, or gives its sum where it is done. One that failed is taken up again: what is there of it stays, and its other ranges may fail
 * as often as before.
 *
 * @param {import('./database.js').Database} database
 * @param {import('./statement.js').Statement} statement
 * @param {object} [options]
 * @param {number} [options.leaseSeconds] how long a worker may take for a range before it is given to another: several times what a range takes
 * @param {number} [options.retryLimit] how often a range is tried again
 * @param {number} [options.retryDelay] seconds before it is
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
    // there is nothing to do but to add them up, which the collector does after it has looked at one
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
 * How far it is. `audited`: of so many ranges the collector computed the sum itself.
 *
 * @param {import('./database.js').Database} database
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ state: 'open' | 'done' | 'failed', sum: Uint8Array | null, error: (import('./errors.js').WrittenError & { cause: unknown }) | null, ranges: number, accepted: number, audited: number }>}
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
 * Waits for the sum of a statement, in the encoding `be`.
 *
 * @param {import('./database.js').Database} database
 * @param {string} id
 * @param {{ signal?: AbortSignal, pollMs?: number, onProgress?: (done: { ranges: number, accepted: number }) => void }} [options]
 * @returns {Promise<Uint8Array>}
 * @throws {FarmError} what the statement failed with
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
