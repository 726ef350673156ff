/**
 * The queue: jobs of pg-boss in PostgreSQL, which keeps everything that must not be lost. Workers and
 * submitters survive its restarts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import PgBoss from 'pg-boss';

/** The one queue, of proofs and of ranges. */
export const QUEUE = 'farm';

/** Codes of errors that pass: no connection or too many, and a shutdown, crash or start of PostgreSQL. */
const PASSING_CODE =
  /^(08...|53300|57P0[1235]|40001|40P01|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT)$/;
/** Messages of passing errors for which pg has no code. */
const PASSING_MESSAGE =
  /Connection terminated|connection error and is not queryable|Client was closed|exceeded when trying to connect/;

/** @param {unknown} error */
const passes = (error) =>
  error instanceof Error &&
  (PASSING_CODE.test(String('code' in error ? error.code : '')) || PASSING_MESSAGE.test(error.message));

/** An outcome of a job. @typedef {{ state: string, output: any, retryLimit: number }} Outcome */

export class Database {
  #pool;
  #onLost;
  #ending = new AbortController();
  /** @type {PgBoss | undefined} */
  #supervisor;

  /** A pg-boss that starts nothing by itself; its queries wait for the database. */
  boss = new PgBoss({
    db: { executeSql: (text, values) => this.query(text, values) },
    ...{ supervise: false, schedule: false, migrate: false },
    // pg-boss would otherwise drop jobs that wait for 14 days
    retentionDays: 3650,
  });

  /**
   * @param {string} url `postgres://user:password@host:port/database`
   * @param {(error: Error) => void} [onLost] called whenever a query finds no database
   */
  constructor(url, onLost = () => {}) {
    this.url = url;
    this.#onLost = onLost;
    this.#pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5000, keepAlive: true });
    // a connection that breaks while idle would otherwise end the process; its next user gets the error
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Runs `body`, and repeats it while there is no database.
   *
   * @template Result
   * @param {() => Promise<Result>} body
   * @returns {Promise<Result>}
   */
  async #whileGone(body) {
    for (let pause = 50; ; pause = Math.min(2 * pause, 2000)) {
      try {
        return await body();
      } catch (error) {
        if (!passes(error) || this.#ending.signal.aborted) throw error;
        this.#onLost(/** @type {Error} */ (error));
        await sleep(pause * (0.5 + Math.random()), undefined, { signal: this.#ending.signal });
      }
    }
  }

  /**
   * Runs a statement. One whose answer was lost is repeated: each statement of the farm allows that.
   *
   * @param {string} text
   * @param {unknown[]} [values]
   */
  query(text, values) {
    return this.#whileGone(() => this.#pool.query(text, values));
  }

  /**
   * Creates what is missing, and hands out again the jobs of workers that were lost, until `close`.
   *
   * @param {number} [everySeconds] interval at which leases are checked
   */
  async supervise(everySeconds = 5) {
    this.#supervisor = await this.#whileGone(async () => {
      const options = { connectionString: this.url, schedule: false, max: 2, maintenanceIntervalSeconds: everySeconds };
      // an instance that failed to start cannot be started again
      const boss = new PgBoss(options);
      boss.on('error', (error) => !this.#ending.signal.aborted && this.#onLost(error));
      await boss.start();
      await boss.createQueue(QUEUE);
      return boss;
    });
  }

  /** Returns whether `supervise` has created the queue. */
  async isReady() {
    const { rows } = await this.query(`select to_regclass('pgboss.queue') is not null as ready`);
    if (!rows[0].ready) return false;
    return (await this.query('select from pgboss.queue where name = $1', [QUEUE])).rowCount !== 0;
  }

  /**
   * Returns the outcomes of some jobs by their ids.
   *
   * @param {readonly string[]} ids
   * @returns {Promise<Map<string, Outcome>>}
   */
  async outcomes(ids) {
    const columns = 'id, state::text, output, retry_limit as "retryLimit"';
    const { rows } = await this.query(
      `select ${columns} from pgboss.job where name = $1 and id = any($2)
       union all select ${columns} from pgboss.archive where name = $1 and id = any($2)`,
      [QUEUE, ids],
    );
    return new Map(rows.map(({ id, ...outcome }) => [id, outcome]));
  }

  async close() {
    this.#ending.abort();
    await this.#supervisor?.stop({ graceful: false });
    await this.#pool.end();
  }
}
