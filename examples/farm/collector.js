/**
 * The collector: checks every partial sum, adds up those of a statement, and reports statements
 * that failed. It may be killed at any time, and several may run.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultOf, isInfinity } from './check-sum.js';
import { DEAD_LETTERS } from './database.js';
import { Engines } from './engines.js';
import { FarmError, written } from './errors.js';
import { namesRange } from './statement.js';

/**
 * Events of the collector. `wrong`: `worker` delivered a point outside the group, or another sum
 * than the collector's, which replaces it.
 *
 * @typedef {( | { event: 'accepted', statement: string, first: number, worker: string, audited:
 *   boolean } | { event: 'wrong', statement: string, first: number, worker: string, why: string } |
 *   { event: 'done' | 'failed', statement: string } | { event: 'trouble', code: string, message:
 *   string } )} CollectorEvent
 *
 * @typedef {object} CollectorOptions
 * @property {number} [shards] number of queues that ranges are distributed to: one per worker
 * @property {number} [auditShare] share of the partial sums, drawn at random, that the collector
 *   computes again
 * @property {string} [name] name under which the collector keeps its own sums
 * @property {import('./engines.js').EngineOptions} [engine]
 * @property {number} [pollMs]
 * @property {number} [expirySeconds] interval at which leases are checked
 * @property {(event: CollectorEvent) => void} [report]
 */

export class Collector {
  #database;
  #engines;
  #options;
  #boss;
  #ending;
  /** @type {Promise<void>} */
  #loop;

  /**
   * Opens a collector, and creates its tables and queues.
   *
   * @param {import('./database.js').Database} database
   * @param {CollectorOptions} [options]
   */
  static async open(database, options = {}) {
    const { shards = 1, expirySeconds = 5, report = () => {} } = options;
    await database.prepare(shards);
    const ending = new AbortController();
    // pg-boss hands out again what lost workers had taken
    const boss = await database.startBoss({ max: 2, maintenanceIntervalSeconds: expirySeconds }, (error) => {
      if (!ending.signal.aborted) report({ event: 'trouble', ...written(error) });
    });
    return new Collector(database, boss, ending, options);
  }

  /**
   * @param {import('./database.js').Database} database
   * @param {import('pg-boss')} boss
   * @param {AbortController} ending
   * @param {CollectorOptions} options
   */
  constructor(database, boss, ending, options) {
    const {
      auditShare = 1 / 16,
      name = 'collector',
      engine = { backend: 'cpu' },
      pollMs = 200,
      report = () => {},
    } = options;
    this.#database = database;
    this.#boss = boss;
    this.#ending = ending;
    this.#options = { auditShare, name, pollMs, report };
    this.#engines = new Engines(engine);
    this.#loop = this.#run();
  }

  async close() {
    this.#ending.abort();
    await this.#loop;
    await this.#boss.stop({ graceful: false });
    await this.#engines.close();
  }

  async #run() {
    const { signal } = this.#ending;
    const { pollMs, report } = this.#options;
    while (!signal.aborted) {
      try {
        const said = (await this.#check()) ?? (await this.#bury());
        for (const event of said ?? []) report(event);
        if (said === null) await sleep(pollMs, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        report({ event: 'trouble', ...written(error) });
        await sleep(pollMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  /**
   * Checks one partial sum.
   *
   * @returns {Promise<CollectorEvent[] | null>} null if none waits
   */
  #check() {
    return this.#database.transaction(async (db) => {
      const { rows } = await db.query(
        `select statement, first, partial.sum, worker, rival, rival_sum, partial.state, task,
           statement.state = 'done' as done
         from farm.partial join farm.range using (statement, first) join farm.statement on id = statement
         where partial.state <> 'accepted' and statement.state <> 'failed'
         order by arrived_on limit 1 for update of partial skip locked`,
      );
      const [row] = rows;
      if (row === undefined) return null;
      const { statement, first, worker } = row;
      let judged;
      try {
        judged = await this.#judge(row);
      } catch (error) {
        const why = `the sum of worker ${worker} for the range from ${first} on had to be computed again, which failed`;
        if (!row.done) return this.#fail(db, statement, 'unverifiable', why, written(error));
        // the sum was published already, and may well be right
        await this.#accept(db, row, { by: worker, sum: row.sum, audited: false });
        const message = `statement ${statement} is done, but ${why}: ${written(error).message}`;
        return [{ event: 'trouble', code: 'unverifiable', message }];
      }
      const { fault, audited, sum } = judged;
      /** @type {CollectorEvent[]} */
      const events = [];
      const wrongs = fault === null ? [] : [{ worker, sum: row.sum, why: fault }];
      if (row.rival !== null && Buffer.compare(row.rival_sum, sum) !== 0)
        wrongs.push({ worker: row.rival, sum: row.rival_sum, why: this.#otherSum() });
      for (const { worker, sum, why } of wrongs) {
        events.push({ event: 'wrong', statement, first, worker, why });
        await db.query('insert into farm.wrong (statement, first, worker, sum, why) values ($1, $2, $3, $4, $5)', [
          statement,
          first,
          worker,
          sum,
          why,
        ]);
        // doubts all other unaudited sums of this worker, in this statement and in open ones
        await db.query(
          `update farm.partial set state = 'doubted' where worker = $1 and not audited
           and (statement = $2 or statement in (select id from farm.statement where state = 'open'))`,
          [worker, statement],
        );
      }
      const by = fault === null ? worker : this.#options.name;
      await this.#accept(db, row, { by, sum, audited });
      events.push({ event: 'accepted', statement, first, worker: by, audited });
      if (await this.#finish(db, statement, row.task)) events.push({ event: 'done', statement });
      return events;
    }, this.#ending.signal);
  }

  #otherSum() {
    return `it differs from the sum that ${this.#options.name} computed`;
  }

  /**
   * @param {import('./database.js').Transaction} db
   * @param {{ statement: string, first: number }} partial
   * @param {{ by: string, sum: Uint8Array, audited: boolean }} as
   */
  #accept(db, { statement, first }, { by, sum, audited }) {
    return db.query(
      `update farm.partial set state = 'accepted', audited = $3, sum = $4, worker = $5, rival = null, rival_sum = null
       where statement = $1 and first = $2`,
      [statement, first, audited, sum, by],
    );
  }

  /**
   * @param {{ sum: Uint8Array, state: string, worker: string, task: import('./statement.js').Task
   *   }} partial
   * @returns {Promise<{ fault: string | null, audited: boolean, sum: Uint8Array }>} the verdict
   *   with the correct sum
   */
  async #judge({ sum, state, task }) {
    const fault = await faultOf(await this.#engines.of(task), sum);
    // random, so that audits are unpredictable
    const isDrawn = randomInt(2 ** 32) < this.#options.auditShare * 2 ** 32;
    const audited = fault !== null || state === 'doubted' || isInfinity(sum) || isDrawn;
    if (!audited) return { fault, audited, sum };
    const { sum: own } = await this.#engines.sumOf(task);
    const same = Buffer.compare(own, sum) === 0;
    return {
      fault: fault ?? (same ? null : this.#otherSum()),
      audited,
      sum: own,
    };
  }

  /**
   * Computes the sum of a statement if all of its partial sums are accepted.
   *
   * @param {import('./database.js').Transaction} db
   * @param {string} statement
   * @param {import('./statement.js').Task} task any task of the statement
   */
  async #finish(db, statement, task) {
    // locks the statement, or two collectors would each miss the sum that the other is about to
    // accept
    await db.query('select from farm.statement where id = $1 for update', [statement]);
    const missing = await db.query(
      `select from farm.range where statement = $1 and not exists (select from farm.partial
         where partial.statement = range.statement and partial.first = range.first and state = 'accepted') limit 1`,
      [statement],
    );
    if (missing.rowCount !== 0) return false;
    const { rows } = await db.query('select sum from farm.partial where statement = $1', [statement]);
    const engine = await this.#engines.of(task);
    const partials = await engine.loadBases(Buffer.concat(rows.map(({ sum }) => sum)), { encoding: 'be' });
    const sum = await engine.msm(partials, new Array(rows.length).fill(1n), { result: 'be' });
    partials.destroy();
    await db.query(`update farm.statement set state = 'done', sum = $2, closed_on = now() where id = $1`, [
      statement,
      sum,
    ]);
    return true;
  }

  /**
   * Handles a dead letter: a range that failed as often as allowed. Its statement fails, and the
   * other ranges are cancelled.
   *
   * @returns {Promise<CollectorEvent[] | null>} null if there is none
   */
  #bury() {
    return this.#database.transaction(async (db) => {
      const { boss } = this.#database;
      const [letter] = /** @type {import('./worker.js').Job[]} */ (
        await boss.fetch(DEAD_LETTERS, { db, includeMetadata: true })
      );
      if (letter === undefined) return null;
      await boss.complete(DEAD_LETTERS, letter.id, {}, { db });
      if (!namesRange(letter.data)) return [];
      const { statement, first, count } = letter.data;
      // ignores a letter from before the statement was submitted again, and locks an open one
      const open = await db.query(
        `select from farm.statement where id = $1 and state = 'open' and date_trunc('milliseconds', opened_on) <= $2 for update`,
        [statement, letter.createdOn],
      );
      if (open.rowCount === 0) return [];
      const there = await db.query('select from farm.partial where statement = $1 and first = $2', [statement, first]);
      // a sum is there: the last worker was late, but succeeded
      if (there.rowCount !== 0) return [];
      /** Output of `fail`, or of pg-boss if a lease expired. @type {any} */
      const output = letter.output;
      const cause = output.value ?? output;
      const why = `range ${first} to ${first + count} failed ${letter.retryLimit + 1} times, ${
        cause.worker === undefined ? '' : `the last time on worker ${cause.worker} with ${cause.code}: `
      }${cause.message}`;
      return this.#fail(db, statement, 'poisoned', why, cause);
    }, this.#ending.signal);
  }

  /**
   * @param {import('./database.js').Transaction} db
   * @param {string} statement
   * @param {import('./errors.js').FarmErrorCode} code
   * @param {string} why
   * @param {unknown} cause
   * @returns {Promise<CollectorEvent[]>}
   */
  async #fail(db, statement, code, why, cause) {
    const { message } = new FarmError(
      code,
      `${why}. Fix the cause, and submit the statement again: its finished ranges are kept`,
    );
    const { rowCount } = await db.query(
      `update farm.statement set state = 'failed', error = $2, closed_on = now() where id = $1 and state = 'open'`,
      [statement, JSON.stringify({ code, message, cause })],
    );
    if (rowCount === 0) return [];
    const { rows } = await db.query(
      'select queue, array_agg(job) as jobs from farm.range where statement = $1 group by queue',
      [statement],
    );
    for (const { queue, jobs } of rows) await this.#database.boss.cancel(queue, jobs, { db });
    return [{ event: 'failed', statement }];
  }
}
