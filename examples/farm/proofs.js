/**
 * Whole proofs as jobs: a key and a witness of snarkjs by reference. The content of both identifies
 * a proof, so it is computed once, whoever submits it and however often. The job keeps its proof.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FarmError } from './errors.js';
import { refer, sizeOf } from './reference.js';
import { uuidOf } from './statement.js';

/** Queue of proofs, which every worker asks first. */
export const PROOFS = 'proofs';

/**
 * A proof to compute, as a worker gets it.
 *
 * @typedef {object} ProofTask
 * @property {import('./reference.js').Reference} zkey a whole `.zkey` file
 * @property {import('./reference.js').Reference} witness a whole `.wtns` file
 *
 * @typedef {{ proof: object, publicSignals: string[] }} Proven
 */

/**
 * Refers to the files of a proof. Reads both once, for their digests.
 *
 * @param {{ zkey: string, witness: string }} paths
 * @returns {Promise<{ id: string, task: ProofTask }>}
 */
export async function describeProof({ zkey, witness }) {
  const [key, values] = await Promise.all(
    [zkey, witness].map(async (path) => (await refer(path, [{ from: 0, to: await sizeOf(path) }]))[0]),
  );
  const task = /** @type {ProofTask} */ ({ zkey: key, witness: values });
  return { id: uuidOf(`proof ${task.zkey.sha256} ${task.witness.sha256}`), task };
}

/** @param {any} reference */
const isWholeFile = (reference) =>
  typeof reference?.path === 'string' &&
  typeof reference.sha256 === 'string' &&
  reference.from === 0 &&
  Number.isSafeInteger(reference.to);

/**
 * Returns whether the data of a job are those of a proof.
 *
 * @param {any} data
 * @returns {data is ProofTask}
 */
export const isProofTask = (data) => isWholeFile(data?.zkey) && isWholeFile(data.witness);

/**
 * Submits a proof. One that is known is not computed again, unless it failed.
 *
 * @param {import('./database.js').Database} database
 * @param {Awaited<ReturnType<typeof describeProof>>} proof
 * @param {object} [options]
 * @param {number} [options.priority] proofs with a higher number go first
 * @param {number} [options.leaseSeconds] time a worker has for it before another gets it: several
 *   times what the load of the key and the proof take
 * @param {number} [options.retryLimit] largest number of retries
 * @param {number} [options.retryDelay] seconds before a retry
 * @param {AbortSignal} [options.signal]
 */
export async function submitProof(
  database,
  { id, task },
  { priority = 0, leaseSeconds = 300, retryLimit = 3, retryDelay = 1, signal } = {},
) {
  const { boss } = database;
  await database.transaction(async (db) => {
    const known = await boss.getJobById(PROOFS, id, { db, includeArchive: false });
    if (known?.state === 'failed') await boss.deleteJob(PROOFS, id, { db });
    // no effect if the job exists
    const job = { id, name: PROOFS, data: task, priority, expireInSeconds: leaseSeconds, retryLimit, retryDelay };
    await boss.insert([job], { db });
  }, signal);
}

/**
 * Waits for a proof.
 *
 * @param {import('./database.js').Database} database
 * @param {string} id
 * @param {{ signal?: AbortSignal, pollMs?: number }} [options]
 * @returns {Promise<Proven>} a proof that its worker has verified
 * @throws {FarmError} `poisoned` if it failed as often as allowed
 */
export async function proofOf(database, id, { signal, pollMs = 200 } = {}) {
  const { boss } = database;
  for (;;) {
    const job = await database.transaction((db) => boss.getJobById(PROOFS, id, { db, includeArchive: true }), signal);
    if (job === null) throw new FarmError('unknown-statement', `there is no proof ${id}. Submit it first`);
    /** Output of `complete` or `fail`. @type {any} */
    const output = job.output;
    if (job.state === 'completed') return output;
    if (job.state === 'failed') {
      const cause = output?.value ?? output;
      const by = cause.worker === undefined ? '' : `, the last time on worker ${cause.worker} with ${cause.code}`;
      const why = `proof ${id} failed ${job.retryLimit + 1} times${by}: ${cause.message}`;
      throw new FarmError('poisoned', `${why}. Fix the cause, and submit the proof again`, { cause });
    }
    await sleep(pollMs, undefined, { signal });
  }
}
