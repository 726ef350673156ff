/**
 * PostgreSQL keeps everything that must not be lost: statements, jobs (pg-boss) and partial sums.
 * Workers and the collector survive its restarts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { PROOFS } from './proofs.js';

/** Queue of jobs that failed as often as allowed. */
export const DEAD_LETTERS = 'dead-ranges';

/**
 * Returns the queue of a shard. Ranges are distributed to several queues, and each worker asks one
 * of them first, so that range i of the next statement over the same bases reaches the worker that
 * has them loaded.
 *
 * @param {number} shard
 */
export const queueOf = (shard) => `ranges-${shard}`;

const TABLES = `
  create schema if not exists farm;
  create table if not exists farm.statement (
    id uuid primary key,
    state text not null default 'open' check (state in ('open', 'done', 'failed')),
    sum bytea,
    error jsonb,
    opened_on timestamptz not null default now(),
    closed_on timestamptz
  );
  create table if not exists farm.range (
    statement uuid not null references farm.statement (id),
    first int not null,
    queue text not null,
    job uuid not null,
    task jsonb not null,
    primary key (statement, first)
  );
  -- the key keeps a range from counting twice
  create table if not exists farm.partial (
    statement uuid not null,
    first int not null,
    sum bytea not null,
    worker text not null,
    state text not null default 'arrived' check (state in ('arrived', 'doubted', 'accepted')),
    audited boolean not null default false,
    arrived_on timestamptz not null default now(),
    -- worker of another, different sum, while this one is doubted
    rival text,
    rival_sum bytea,
    primary key (statement, first),
    foreign key (statement, first) references farm.range (statement, first)
  );
  create index if not exists partial_unchecked on farm.partial (arrived_on) where state <> 'accepted';
  create table if not exists farm.wrong (
    statement uuid not null,
    first int not null,
    worker text not null,
    sum bytea not null,
    why text not null,
    found_on timestamptz not null default now()
  );
`;

/**
 * PostgreSQL classes and system codes of passing errors: no connection or too many; shutdown, crash
 * or start; an idle transaction that was ended; and a transaction to repeat.
 */
const PASSING_CODE =
  /^(08...|53300|57P0[1235]|25P03|40001|40P01|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT)$/;
/** Messages of passing errors for which pg has no code. */
const PASSING_MESSAGE =
  /Connection terminated|connection error and is not queryable|Client was closed|exceeded when trying to connect/;

/** @param {unknown} error */
const passes = (error) =>
  error instanceof Error &&
  (PASSING_CODE.test(String('code' in error ? error.code : '')) || PASSING_MESSAGE.test(error.message));

/**
 * A transaction, for queries and for pg-boss.
 *
 * @typedef {object} Transaction
 * @property {(text: string, values?: unknown[]) => Promise<pg.QueryResult>} query
 * @property {(text: string, values: unknown[]) => Promise<{ rows: any[] }>} executeSql
 */

export class Database {
  #pool;
  #onLost;

  /** A pg-boss that starts nothing by itself; each call names its transaction. */
  boss = new PgBoss({
    db: { executeSql: (text, values) => this.#pool.query(text, values) },
    supervise: false,
    schedule: false,
    migrate: false,
    // pg-boss would otherwise drop jobs that wait for 14 days, and their statement would stay open
    // for ever
    retentionDays: 3650,
  });

  /**
   * @param {string} url `postgres://user:password@host:port/database`
   * @param {object} [options]
   * @param {number} [options.connections]
   * @param {number} [options.idleMs] silence after which a transaction is rolled back, so that a
   *   halted client blocks nobody; 0 for never
   * @param {(error: Error) => void} [options.onLost] called whenever a transaction finds no
   *   database
   */
  constructor(url, { connections = 2, idleMs = 0, onLost = () => {} } = {}) {
    this.url = url;
    this.#onLost = onLost;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      idle_in_transaction_session_timeout: idleMs,
    });
    // a connection that breaks while idle would otherwise end the process; its next user gets the
    // error
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Runs a transaction, and repeats it while there is no database. A commit whose answer was lost
   * is repeated too; all transactions of the farm allow that.
   *
   * @template Result
   * @param {(transaction: Transaction) => Promise<Result>} body
   * @param {AbortSignal} [signal] ends the wait for the database
   * @returns {Promise<Result>}
   */
  async transaction(body, signal) {
    return this.#whileGone(() => this.#once(body), signal);
  }

  /**
   * Runs `body`, and repeats it while there is no database.
   *
   * @template Result
   * @param {() => Promise<Result>} body
   * @param {AbortSignal} [signal]
   * @returns {Promise<Result>}
   */
  async #whileGone(body, signal) {
    for (let pause = 50; ; pause = Math.min(2 * pause, 2000)) {
      try {
        return await body();
      } catch (error) {
        if (!passes(error) || signal?.aborted) throw error;
        this.#onLost(/** @type {Error} */ (error));
        await sleep(pause * (0.5 + Math.random()), undefined, { signal });
      }
    }
  }

  /**
   * @template Result
   * @param {(transaction: Transaction) => Promise<Result>} body
   * @returns {Promise<Result>}
   */
  async #once(body) {
    const client = await this.#pool.connect();
    /** First error of a query, because pg-boss hides the errors of its `fetch`. @type {unknown} */
    let met;
    const query = (/** @type {string} */ text, /** @type {unknown[]} */ values = []) =>
      client.query(text, values).catch((error) => {
        met ??= error;
        throw error;
      });
    let failed = true;
    try {
      await query('begin');
      const result = await body({ query, executeSql: query });
      if (met !== undefined) throw met;
      await query('commit');
      failed = false;
      return result;
    } catch (error) {
      throw met ?? error;
    } finally {
      // after a failure the connection is closed, which rolls its transaction back
      client.release(failed);
    }
  }

  /**
   * Starts a pg-boss with its own connections and schedule. Waits for the database.
   *
   * @param {PgBoss.ConstructorOptions} options
   * @param {(error: Error) => void} onError
   */
  startBoss(options, onError) {
    return this.#whileGone(async () => {
      // an instance that failed to start cannot be started again
      const boss = new PgBoss({ connectionString: this.url, schedule: false, ...options });
      boss.on('error', onError);
      return boss.start();
    });
  }

  /**
   * Creates missing tables of pg-boss and of the farm, and missing queues.
   *
   * @param {number} shards number of queues for ranges
   */
  async prepare(shards) {
    await this.#whileGone(async () => {
      const boss = await this.startBoss({ max: 1, supervise: false }, () => {});
      try {
        await boss.createQueue(DEAD_LETTERS);
        await boss.createQueue(PROOFS);
        for (let shard = 0; shard < shards; shard++) {
          await boss.createQueue(queueOf(shard), { name: queueOf(shard), deadLetter: DEAD_LETTERS });
        }
      } finally {
        await boss.stop({ graceful: false });
      }
    });
    await this.transaction(async ({ query }) => {
      // `if not exists` does not protect against concurrent creation
      await query(`select pg_advisory_xact_lock(hashtext('farm tables'))`);
      await query(TABLES);
    });
  }

  /**
   * Returns the queues of ranges by shard; none before `prepare`.
   *
   * @param {AbortSignal} [signal]
   */
  async queues(signal) {
    return this.transaction(async ({ query }) => {
      const { rows } = await query(
        `select to_regclass('pgboss.queue') is not null and to_regclass('farm.wrong') is not null as there`,
      );
      if (!rows[0].there) return [];
      const names = new Set((await query('select name from pgboss.queue')).rows.map(({ name }) => name));
      const queues = [];
      while (names.has(queueOf(queues.length))) queues.push(queueOf(queues.length));
      return queues;
    }, signal);
  }

  async close() {
    await this.#pool.end();
  }
}
