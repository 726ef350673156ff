/** A statement: one MSM, its bases and scalars by reference, cut into ranges. It is known by what it says, and not by who says it or how often. */
import { createHash } from 'node:crypto';
import { FarmError } from './errors.js';
import { cutRanges } from './ranges.js';
import { refer, sizeOf } from './reference.js';

/**
 * What a worker is given: a range of a statement.
 *
 * @typedef {object} Task
 * @property {string} statement its id
 * @property {number} first the index of its first base and scalar
 * @property {number} count
 * @property {import('webgpu-msm').NamedCurve} curve
 * @property {'g1' | 'g2'} group
 * @property {import('./reference.js').Reference & { encoding: import('webgpu-msm').PointEncoding }} bases
 * @property {import('./reference.js').Reference & { encoding: import('webgpu-msm').ScalarEncoding }} scalars
 *
 * @typedef {{ id: string, count: number, tasks: Task[] }} Statement
 */

export const SCALAR_BYTES = 32;

/** @param {string} text */
const uuidOf = (text) =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

/**
 * The job of a range, wherever and however often it is made: what keeps it from being there twice.
 *
 * @param {Pick<Task, 'statement' | 'first'>} task
 */
export const jobOf = ({ statement, first }) => uuidOf(`${statement}/${first}`);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Whether what a job has for data names a range. Nothing but the farm makes jobs, but whoever has the database may.
 *
 * @param {any} data
 */
export const namesRange = (data) => UUID.test(data?.statement) && data.first === (data.first | 0);

/** @param {any} reference */
const isReference = (reference) =>
  ['path', 'sha256', 'encoding'].every((name) => typeof reference?.[name] === 'string') &&
  [reference.from, reference.to].every(Number.isSafeInteger);

/**
 * Whether what a job has for data is a whole task.
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
 * Reads both files once, for the digests of their ranges.
 *
 * @param {object} what
 * @param {import('webgpu-msm').NamedCurve} what.curve
 * @param {'g1' | 'g2'} [what.group]
 * @param {{ path: string, pointBytes: number, encoding?: import('webgpu-msm').PointEncoding }} what.bases as many as scalars, or more
 * @param {{ path: string, encoding?: import('webgpu-msm').ScalarEncoding }} what.scalars 32 bytes each, to the end of the file
 * @param {number} what.ranges into how many it is cut
 * @returns {Promise<Statement>}
 */
export async function describe({ curve, group = 'g1', bases, scalars, ranges }) {
  const bytes = await sizeOf(scalars.path);
  if (bytes === 0 || bytes % SCALAR_BYTES !== 0)
    throw new FarmError('bad-argument', `${scalars.path} has ${bytes} bytes, which are no scalars of ${SCALAR_BYTES}`);
  const cut = cutRanges(bytes / SCALAR_BYTES, ranges);
  const referTo = (/** @type {string} */ path, /** @type {number} */ each) =>
    refer(
      path,
      cut.map(({ first, count }) => ({ from: first * each, to: (first + count) * each })),
    );
  const points = await referTo(bases.path, bases.pointBytes);
  const values = await referTo(scalars.path, SCALAR_BYTES);
  const encodings = { points: bases.encoding ?? 'le', values: scalars.encoding ?? 'le' };
  // what it says: paths are not part of it
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
