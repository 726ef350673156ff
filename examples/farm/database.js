/** PostgreSQL, which has everything that must not be lost: statements, jobs (pg-boss) and partial sums. Workers and the collector live through its restarts. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import PgBoss from 'pg-boss';

/** Where a job goes that failed as often as it may. */
export const DEAD_LETTERS = 'dead-ranges';

/**
 * Ranges are dealt out to so many queues, and each worker looks at one of them first: range i of the next statement over the same bases then comes to the
 * worker that has them loaded.
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
  -- the key is why nothing counts twice
  create table if not exists farm.partial (
    statement uuid not null,
    first int not null,
    sum bytea not null,
    worker text not null,
    state text not null default 'arrived' check (state in ('arrived', 'doubted', 'accepted')),
    audited boolean not null default false,
    arrived_on timestamptz not null default now(),
    -- who delivered another sum, while it is doubted
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

/** Classes of PostgreSQL's and codes of the system's: no connection, or too many; it shuts down, crashed or starts; it gave somebody up who did nothing for too long; and a transaction that only has to be done again. */
const PASSING_CODE =
  /^(08...|53300|57P0[1235]|25P03|40001|40P01|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT)$/;
/** pg has no codes for these. */
const PASSING_MESSAGE =
  /Connection terminated|connection error and is not queryable|Client was closed|exceeded when trying to connect/;

/** @param {unknown} error */
const passes = (error) =>
  error instanceof Error &&
  (PASSING_CODE.test(String('code' in error ? error.code : '')) || PASSING_MESSAGE.test(error.message));

/**
 * One transaction: for queries, and for pg-boss to take part in.
 *
 * @typedef {object} Transaction
 * @property {(text: string, values?: unknown[]) => Promise<pg.QueryResult>} query
 * @property {(text: string, values: unknown[]) => Promise<{ rows: any[] }>} executeSql
 */

export class Database {
  #pool;
  #onLost;

  /** pg-boss, that starts nothing by itself: whoever calls it says in which transaction. */
  boss = new PgBoss({
    db: { executeSql: (text, values) => this.#pool.query(text, values) },
    supervise: false,
    schedule: false,
    migrate: false,
    // or jobs that wait for 14 days are thrown away, and their statement is open for ever
    retentionDays: 3650,
  });

  /**
   * @param {string} url `postgres://user:password@host:port/database`
   * @param {object} [options]
   * @param {number} [options.connections]
   * @param {number} [options.idleMs] a transaction that nothing was heard of for so long is rolled back, so that who was halted in the middle of it holds nobody up; 0 for never
   * @param {(error: Error) => void} [options.onLost] is told whenever a transaction met a database that is not there
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
    // A connection that breaks while nobody waits for it would end the process. Whoever uses it next is told.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Does a transaction, again and again while there is no database. A commit whose answer was lost is done twice: every transaction of the farm may be.
   *
   * @template Result
   * @param {(transaction: Transaction) => Promise<Result>} body
   * @param {AbortSignal} [signal] ends the waiting for a database
   * @returns {Promise<Result>}
   */
  async transaction(body, signal) {
    return this.#whileGone(() => this.#once(body), signal);
  }

  /**
   * Again and again while there is no database.
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
    /** What a query rejected with: pg-boss keeps to itself what its `fetch` meets. @type {unknown} */
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
      // a connection in an unknown state is closed, which rolls back what it had begun
      client.release(failed);
    }
  }

  /**
   * A pg-boss with connections of its own, that starts things by itself; it waits for a database that is not there.
   *
   * @param {PgBoss.ConstructorOptions} options
   * @param {(error: Error) => void} onError
   */
  startBoss(options, onError) {
    return this.#whileGone(async () => {
      // one that did not start cannot be started again
      const boss = new PgBoss({ connectionString: this.url, schedule: false, ...options });
      boss.on('error', onError);
      return boss.start();
    });
  }

  /**
   * Makes what is not there yet: pg-boss's tables, the farm's, and the queues.
   *
   * @param {number} shards how many queues ranges are dealt out to
   */
  async prepare(shards) {
    await this.#whileGone(async () => {
      const boss = await this.startBoss({ max: 1, supervise: false }, () => {});
      try {
        await boss.createQueue(DEAD_LETTERS);
        for (let shard = 0; shard < shards; shard++) {
          await boss.createQueue(queueOf(shard), { name: queueOf(shard), deadLetter: DEAD_LETTERS });
        }
      } finally {
        await boss.stop({ graceful: false });
      }
    });
    await this.transaction(async ({ query }) => {
      // `if not exists` is no protection from others that do the same at the same moment
      await query(`select pg_advisory_xact_lock(hashtext('farm tables'))`);
      await query(TABLES);
    });
  }

  /**
   * The queues of ranges, in order of their shards; none before `prepare`.
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
