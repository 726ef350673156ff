/**
 * A statement: one MSM with bases and scalars by reference, cut into ranges. Its content identifies
 * it, whoever submits it and however often.
 */
import { createHash } from 'node:crypto';
import { FarmError } from './errors.js';
import { cutRanges } from './ranges.js';
import { refer, sizeOf } from './reference.js';

/**
 * A range of a statement, as a worker gets it.
 *
 * @typedef {object} Task
 * @property {string} statement id of the statement
 * @property {number} first index of its first base and scalar
 * @property {number} count
 * @property {import('webgpu-msm').NamedCurve} curve
 * @property {'g1' | 'g2'} group
 * @property {import('./reference.js').Reference & { encoding: import('webgpu-msm').PointEncoding }}
 *   bases
 * @property {import('./reference.js').Reference & { encoding: import('webgpu-msm').ScalarEncoding
 *   }} scalars
 *
 * @typedef {{ id: string, count: number, tasks: Task[] }} Statement
 */

export const SCALAR_BYTES = 32;

/**
 * Returns an id of a text: the first bits of its digest.
 *
 * @param {string} text
 */
export const uuidOf = (text) =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

/**
 * Returns the job id of a range, always the same, so that no range has two jobs.
 *
 * @param {Pick<Task, 'statement' | 'first'>} task
 */
export const jobOf = ({ statement, first }) => uuidOf(`${statement}/${first}`);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns whether the data of a job name a range. The farm alone makes jobs, but anyone with the
 * database could.
 *
 * @param {any} data
 */
export const namesRange = (data) => UUID.test(data?.statement) && data.first === (data.first | 0);

/** @param {any} reference */
const isReference = (reference) =>
  ['path', 'sha256', 'encoding'].every((name) => typeof reference?.[name] === 'string') &&
  [reference.from, reference.to].every(Number.isSafeInteger);

/**
 * Returns whether the data of a job are a whole task.
 *
 * @param {any} data
 * @returns {data is Task}
 */
export const isTask = (data) =>
  namesRange(data) &&
  Number.isSafeInteger(data.count) &&
  [data.curve, data.group].every((name) => typeof name === 'string') &&
  [data.bases, data.scalars].every(isReference);

/**
 * Makes a statement. Reads both files once, for the digests of their ranges.
 *
 * @param {object} what
 * @param {import('webgpu-msm').NamedCurve} what.curve
 * @param {'g1' | 'g2'} [what.group]
 * @param {{ path: string, pointBytes: number, encoding?: import('webgpu-msm').PointEncoding }}
 *   what.bases at least as many points as scalars
 * @param {{ path: string, encoding?: import('webgpu-msm').ScalarEncoding }} what.scalars 32 bytes
 *   each, to the end of the file
 * @param {number} what.ranges number of ranges
 * @returns {Promise<Statement>}
 */
export async function describe({ curve, group = 'g1', bases, scalars, ranges }) {
  const bytes = await sizeOf(scalars.path);
  if (bytes === 0 || bytes % SCALAR_BYTES !== 0)
    throw new FarmError(
      'bad-argument',
      `${scalars.path} has ${bytes} bytes; it must hold scalars of ${SCALAR_BYTES} bytes`,
    );
  const cut = cutRanges(bytes / SCALAR_BYTES, ranges);
  const referTo = (/** @type {string} */ path, /** @type {number} */ each) =>
    refer(
      path,
      cut.map(({ first, count }) => ({ from: first * each, to: (first + count) * each })),
    );
  const points = await referTo(bases.path, bases.pointBytes);
  const values = await referTo(scalars.path, SCALAR_BYTES);
  const encodings = { points: bases.encoding ?? 'le', values: scalars.encoding ?? 'le' };
  // the id covers the content; paths are not part of it
  const id = uuidOf(
    JSON.stringify([curve, group, encodings, cut, ...[points, values].map((each) => each.map(({ sha256 }) => sha256))]),
  );
  const tasks = cut.map((range, i) => ({
    statement: id,
    ...range,
    curve,
    group,
    bases: { .../** @type {import('./reference.js').Reference} */ (points[i]), encoding: encodings.points },
    scalars: { .../** @type {import('./reference.js').Reference} */ (values[i]), encoding: encodings.values },
  }));
  return { id, count: bytes / SCALAR_BYTES, tasks };
}
