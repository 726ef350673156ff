/**
 * A worker: takes proofs and ranges, computes them, and delivers the results. If it fails, another
 * worker gets its job when the lease expires.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from './database.js';
import { Engines } from './engines.js';
import { FarmError, written } from './errors.js';
import { isProofTask, PROOFS } from './proofs.js';
import { isTask, namesRange } from './statement.js';

/** @typedef {import('pg-boss').JobWithMetadata<import('./statement.js').Task>} Job */

/**
 * Events of a worker. `attempt` counts from 1. `skipped`: the sum was there already. `delivered`:
 * `counted` tells whether this sum was the first of the range, and `agreed` whether a later one is
 * equal. `lost`: the database is not reachable; the worker waits for it. Events of a whole proof
 * have its id as `statement` and -1 as `first`; `proved`: it is delivered.
 *
 * @typedef {( | { event: 'ready', shard: number } | { event: 'taken', statement: string, first:
 *   number, attempt: number } | { event: 'skipped', statement: string, first: number, attempt:
 *   number } | { event: 'delivered', statement: string, first: number, attempt: number, counted:
 *   boolean, agreed: boolean, on: 'gpu' | 'cpu' | 'both' | null, ms: number } | { event: 'proved',
 *   statement: string, first: number, attempt: number, ms: number } | { event: 'failed',
 *   statement: string, first: number, attempt: number, code: string, message: string } | { event:
 *   'lost', code: string, message: string } )} WorkerEvent
 */

/**
 * Idle time of a transaction after which PostgreSQL rolls it back. A worker never computes inside
 * one, so it is halted or gone then.
 */
const IDLE_MS = 5000;

/**
 * Pause after a failure of the worker, doubled after each further one, so that healthy workers come
 * first.
 */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;

/**
 * Codes of errors of a job, not of its worker, which continues at once: invalid data or points, and
 * an unknown range (PostgreSQL's foreign_key_violation).
 */
const OF_JOBS = ['bad-argument', 'not-on-curve', 'not-in-subgroup', '23503'];

/**
 * @typedef {object} WorkerOptions
 * @property {string} url address of the database
 * @property {string} name name that its sums are stored under
 * @property {number} [shard] queue that it asks first
 * @property {number} [pollMs] pause when all queues are empty
 * @property {import('./engines.js').EngineOptions} [engine]
 * @property {AbortSignal} signal
 * @property {(event: WorkerEvent) => void} [report]
 */

class Worker {
  #name;
  #shard;
  #pollMs;
  #signal;
  #report;
  #database;
  #engines;
  /** Failures of the worker in a row. */
  #failures = 0;

  /** @param {WorkerOptions} options */
  constructor({ url, name, shard = 0, pollMs = 500, engine = {}, signal, report = () => {} }) {
    this.#name = name;
    this.#shard = shard;
    this.#pollMs = pollMs;
    this.#signal = signal;
    this.#report = report;
    this.#database = new Database(url, {
      idleMs: IDLE_MS,
      onLost: (error) => report({ event: 'lost', ...written(error) }),
    });
    this.#engines = new Engines(engine);
  }

  /** Opens an engine of any curve, to find out whether the worker can compute. */
  async checkEngine() {
    await this.#engines.of({ curve: 'bn254', group: 'g1' }).catch((cause) => {
      throw new FarmError('no-engine', `worker ${this.#name} cannot compute: ${cause.message}`, { cause });
    });
  }

  async run() {
    let queues = await this.#someQueues();
    this.#report({ event: 'ready', shard: this.#shard % queues.length });
    while (!this.#signal.aborted) {
      const taken = await this.#takeFromAny(queues);
      if (taken !== null) {
        await this.#handle(taken);
        continue;
      }
      await this.#pause();
      // a collector may have created more queues
      queues = await this.#someQueues();
    }
  }

  async close() {
    await this.#engines.close();
    await this.#database.close();
  }

  #pause() {
    return sleep(this.#pollMs * (0.5 + Math.random()), undefined, { signal: this.#signal }).catch(() => {});
  }

  /** Waits until there are queues, and returns them. */
  async #someQueues() {
    for (;;) {
      const queues = await this.#database.queues(this.#signal);
      if (queues.length > 0) return queues;
      await this.#pause();
      this.#signal.throwIfAborted();
    }
  }

  /**
   * Takes a proof, or a range from the worker's own queue, then from a random other one. No worker
   * is idle while there is work, and each poll makes three queries at most.
   *
   * @param {string[]} queues
   */
  async #takeFromAny(queues) {
    const own = this.#shard % queues.length;
    const other = (own + 1 + Math.floor(Math.random() * (queues.length - 1))) % queues.length;
    return (
      (await this.#take(PROOFS)) ??
      (await this.#take(/** @type {string} */ (queues[own]))) ??
      (await this.#take(/** @type {string} */ (queues[other])))
    );
  }

  /**
   * Takes the next job of a queue, for the duration of its lease.
   *
   * @param {string} queue
   */
  #take(queue) {
    const { boss } = this.#database;
    return this.#database.transaction(async (db) => {
      const [job] = /** @type {Job[]} */ (await boss.fetch(queue, { db, includeMetadata: true }));
      if (job === undefined) return null;
      if (!namesRange(job.data)) return { job, summed: false };
      const { statement, first } = job.data;
      const there = await db.query('select from farm.partial where statement = $1 and first = $2', [statement, first]);
      // a worker whose lease had expired delivered the sum already
      if (there.rowCount !== 0) await boss.complete(queue, job.id, {}, { db });
      return { job, summed: there.rowCount !== 0 };
    }, this.#signal);
  }

  /** @param {{ job: Job, summed: boolean }} taken */
  async #handle({ job, summed }) {
    const { statement, first } = job.name === PROOFS ? { statement: job.id, first: -1 } : (job.data ?? {});
    const what = { statement, first, attempt: job.retryCount + 1 };
    this.#report({ event: summed ? 'skipped' : 'taken', ...what });
    if (summed) return;
    const begun = performance.now();
    try {
      this.#report(job.name === PROOFS ? await this.#prove(job, what, begun) : await this.#sum(job, what, begun));
      this.#failures = 0;
    } catch (error) {
      await this.#handBack(job, error);
      const why = written(error);
      this.#report({ event: 'failed', ...what, ...why });
      if (OF_JOBS.includes(why.code)) return;
      const rest = Math.min(FIRST_REST_MS * 2 ** this.#failures++, LONGEST_REST_MS);
      await sleep(rest, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  /**
   * Computes the sum of a range, and delivers it.
   *
   * @param {Job} job
   * @param {{ statement: string, first: number, attempt: number }} what
   * @param {number} begun
   * @returns {Promise<WorkerEvent>}
   */
  async #sum(job, what, begun) {
    if (!isTask(job.data)) throw new FarmError('bad-argument', `job ${job.id} does not contain a range of a statement`);
    const { sum, on } = await this.#engines.sumOf(job.data);
    const ms = performance.now() - begun;
    return { event: 'delivered', ...what, ...(await this.#deliver(job, sum)), on, ms };
  }

  /**
   * Computes a whole proof, and completes its job with it. A second proof of the same job has no
   * effect.
   *
   * @param {Job} job
   * @param {{ statement: string, first: number, attempt: number }} what
   * @param {number} begun
   * @returns {Promise<WorkerEvent>}
   */
  async #prove(job, what, begun) {
    if (!isProofTask(job.data)) throw new FarmError('bad-argument', `job ${job.id} does not contain a proof`);
    const proven = await this.#engines.prove(job.data);
    await this.#database.transaction((db) => this.#database.boss.complete(PROOFS, job.id, proven, { db }));
    return { event: 'proved', ...what, ms: performance.now() - begun };
  }

  /**
   * Stores the sum and completes the job, in one transaction. `signal` does not end it, so that a
   * computed sum is delivered.
   *
   * @param {Job} job
   * @param {Uint8Array} sum
   */
  #deliver(job, sum) {
    return this.#database.transaction(async (db) => {
      // a second sum of the range does not count; if it differs, the collector decides which is
      // right
      const { rows } = await db.query(
        `insert into farm.partial as there (statement, first, sum, worker) values ($1, $2, $3, $4)
         on conflict (statement, first) do update set state = 'doubted', rival = excluded.worker, rival_sum = excluded.sum
           where there.sum <> excluded.sum
         returning state`,
        [job.data.statement, job.data.first, sum, this.#name],
      );
      await this.#database.boss.complete(job.name, job.id, {}, { db });
      return { counted: rows[0]?.state === 'arrived', agreed: rows[0]?.state !== 'doubted' };
    });
  }

  /**
   * Hands a job back, unless the lease has expired.
   *
   * @param {Job} job
   * @param {unknown} error
   */
  #handBack(job, error) {
    const { boss } = this.#database;
    return this.#database.transaction(async (db) => {
      const now = await boss.getJobById(job.name, job.id, { db, includeArchive: false });
      if (now?.state !== 'active' || now.retryCount !== job.retryCount) return;
      await boss.fail(job.name, job.id, { ...written(error), worker: this.#name }, { db });
    });
  }
}

/**
 * Works until `signal` is aborted. The current range is finished first.
 *
 * @param {WorkerOptions} options
 * @throws {FarmError} `no-engine`, before it takes a range
 */
export async function work(options) {
  const worker = new Worker(options);
  try {
    await worker.checkEngine();
    await worker.run();
  } catch (error) {
    // an abort ends the waits for the database and for queues
    if (!options.signal.aborted) throw error;
  } finally {
    await worker.close();
  }
}
