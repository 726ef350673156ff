/** Submits jobs, and waits for proofs and for checked sums. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MsmError } from 'webgpu-msm';
import { QUEUE } from './database.js';
import { FarmError } from './jobs.js';

/**
 * @typedef {import('./database.js').Database} Database
 *
 * @typedef {import('./jobs.js').Job} Job
 *
 * @typedef {{ pollMs?: number, signal?: AbortSignal }} Waiting
 */

/**
 * Submits jobs: all of them, or none. Jobs that exist are not computed again, unless they failed.
 *
 * @param {Database} database
 * @param {readonly Job[]} jobs
 * @param {object} [options]
 * @param {number} [options.priority] jobs with a higher number go first
 * @param {number} [options.leaseSeconds] time a worker has for a job before another gets it: several
 *   times what it takes
 * @param {number} [options.retryLimit] largest number of retries
 * @param {number} [options.retryDelay] seconds before a retry
 */
export async function submit(
  database,
  jobs,
  { priority = 0, leaseSeconds = 300, retryLimit = 3, retryDelay = 1 } = {},
) {
  const outcomes = await database.outcomes(jobs.map(({ id }) => id));
  const failed = [...outcomes].flatMap(([id, { state }]) => (['failed', 'cancelled'].includes(state) ? [id] : []));
  if (failed.length > 0) await database.boss.deleteJob(QUEUE, failed);
  const missing = jobs.filter(({ id }) => !outcomes.has(id) || failed.includes(id));
  // jobs that somebody else inserted meanwhile stay as they are
  const options = { name: QUEUE, priority, expireInSeconds: leaseSeconds, retryLimit, retryDelay };
  if (missing.length > 0) await database.boss.insert(missing.map(({ id, task }) => ({ ...options, id, data: task })));
}

/**
 * Waits for the results of jobs. If one failed as often as allowed, those that wait are cancelled.
 *
 * @param {Database} database
 * @param {readonly string[]} ids
 * @param {Waiting} options
 * @returns {Promise<any[]>} in the order of the ids
 * @throws {FarmError} `poisoned`, `unknown-job`
 */
async function resultsOf(database, ids, { pollMs = 200, signal }) {
  for (;;) {
    const outcomes = await database.outcomes(ids);
    for (const id of ids) {
      const outcome = outcomes.get(id);
      if (outcome === undefined) throw new FarmError('unknown-job', `there is no job ${id}. Submit it first`);
      if (!['failed', 'cancelled'].includes(outcome.state)) continue;
      await database.boss.cancel(QUEUE, [...ids]);
      const cause = outcome.output?.value ?? outcome.output ?? { message: 'another job of its MSM failed' };
      const by = cause.worker === undefined ? '' : `, the last time on worker ${cause.worker} with ${cause.code}`;
      const why = `job ${id} failed ${outcome.retryLimit + 1} times${by}: ${cause.message}`;
      throw new FarmError('poisoned', `${why}. Fix the cause, and submit it again: what is done is kept`, { cause });
    }
    if (ids.every((id) => outcomes.get(id)?.state === 'completed')) return ids.map((id) => outcomes.get(id)?.output);
    await sleep(pollMs, undefined, { signal });
  }
}

/**
 * Waits for a proof, which its worker has verified.
 *
 * @param {Database} database
 * @param {string} id
 * @param {Waiting} [options]
 * @returns {Promise<{ proof: object, publicSignals: string[] }>}
 */
export async function proofOf(database, id, options = {}) {
  const [{ proof, publicSignals }] = await resultsOf(database, [id], options);
  return { proof, publicSignals };
}

/**
 * Returns why a sum cannot be that of any range; null if it is a point of the group.
 *
 * @param {import('webgpu-msm').MsmEngine} engine
 * @param {Uint8Array} sum
 */
async function faultOf(engine, sum) {
  try {
    const point = await engine.loadBases(sum, { encoding: 'be', checkSubgroup: true });
    point.destroy();
    return point.length === 1 ? null : `it has ${point.length} points instead of one`;
  } catch (error) {
    if (error instanceof MsmError && ['bad-argument', 'not-on-curve', 'not-in-subgroup'].includes(error.code))
      return `${error.code}: ${error.message}`;
    throw error;
  }
}

/** Returns whether a sum is infinity, which unwritten memory is, too: zeros, or (0, 1) of Edwards form. @param {Uint8Array} sum */
const isInfinity = (sum) => sum.every((byte, i) => byte === 0 || (byte === 1 && i === sum.length - 1));

/**
 * Waits for the sums of the ranges of an MSM, checks them, and adds them up. Sums outside the group,
 * sums that are infinity and a random share of the others are computed again here, and after a wrong
 * one all others of its worker.
 *
 * @param {Database} database
 * @param {readonly Job[]} jobs of `describe`
 * @param {import('./engines.js').Engines} engines
 * @param {Waiting & { auditShare?: number, report?: (wrong: { id: string, worker: string, why: string }) =>
 *   void }} [options]
 * @returns {Promise<{ sum: Uint8Array, workers: string[], audited: number }>} the sum in the encoding
 *   `be`
 */
export async function sumOf(database, jobs, engines, { auditShare = 1 / 16, report = () => {}, ...waiting } = {}) {
  const ids = jobs.map(({ id }) => id);
  const results = await resultsOf(database, ids, waiting);
  const partials = jobs.map(({ id, task }, i) => ({
    ...{ id, task: /** @type {import('./jobs.js').RangeTask} */ (task), isAudited: false },
    ...{ worker: String(results[i].worker), sum: Buffer.from(results[i].sum, 'hex') },
  }));
  const { task } = /** @type {(typeof partials)[0]} */ (partials[0]);
  const engine = await engines.of(task);
  /** @type {(partial: (typeof partials)[0], fault: string | null) => Promise<void>} */
  const audit = async (partial, fault) => {
    const own = Buffer.from((await engines.sumOf(partial.task)).sum);
    const { id, worker } = partial;
    const isWrong = Buffer.compare(own, partial.sum) !== 0;
    Object.assign(partial, { sum: own, isAudited: true });
    if (!isWrong) return;
    report({ id, worker, why: fault ?? 'it differs from the sum that was computed again' });
    for (const other of partials) if (other.worker === worker && !other.isAudited) await audit(other, null);
  };
  for (const partial of partials) {
    const fault = await faultOf(engine, partial.sum);
    // random, so that audits are unpredictable
    const isDrawn = randomInt(2 ** 32) < auditShare * 2 ** 32;
    if (!partial.isAudited && (fault !== null || isInfinity(partial.sum) || isDrawn)) await audit(partial, fault);
  }
  const points = await engine.loadBases(Buffer.concat(partials.map(({ sum }) => sum)), { encoding: 'be' });
  const sum = await engine.msm(points, new Array(partials.length).fill(1n), { result: 'be' });
  points.destroy();
  return {
    sum,
    workers: partials.map(({ worker }) => worker),
    audited: partials.filter(({ isAudited }) => isAudited).length,
  };
}
