/**
 * Jobs: whole proofs, and ranges of an MSM. The content of a job gives its id, so it exists once,
 * whoever submits it and however often. Its files are given by reference: byte ranges with digests, so
 * a changed file gives an error, never a wrong result.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

/**
 * An error of the farm. `code` is for programs, `message` says what to do next.
 *
 * @typedef {'bad-argument' | 'no-engine' | 'file-missing' | 'file-changed' | 'poisoned' |
 *   'unknown-job'} FarmErrorCode
 */
export class FarmError extends Error {
  /**
   * @param {FarmErrorCode} code
   * @param {string} message
   * @param {{ cause?: unknown }} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'FarmError';
    this.code = code;
  }
}

/**
 * Converts anything thrown to the form that the database keeps.
 *
 * @param {unknown} error
 * @returns {{ code: string, message: string }}
 */
export const written = (error) =>
  error instanceof Error
    ? { code: 'code' in error ? String(error.code) : error.name, message: error.message }
    : { code: 'unknown', message: String(error) };

/**
 * @typedef {{ path: string, from: number, to: number, sha256: string }} Reference
 *
 * @typedef {{ kind: 'proof', zkey: Reference, witness: Reference }} ProofTask
 *
 * @typedef {object} RangeTask
 * @property {'range'} kind
 * @property {import('webgpu-msm').NamedCurve} curve
 * @property {'g1' | 'g2'} group
 * @property {Reference & { encoding: import('webgpu-msm').PointEncoding }} bases
 * @property {Reference & { encoding: import('webgpu-msm').ScalarEncoding }} scalars
 *
 * @typedef {ProofTask | RangeTask} Task
 *
 * @typedef {{ id: string, task: Task }} Job
 */

/** Returns an id of a text: the first bits of its digest. @param {string} text */
const uuidOf = (text) =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

/**
 * Opens a file, works with it, and closes it.
 *
 * @template Result
 * @param {string} path
 * @param {(file: import('node:fs/promises').FileHandle) => Promise<Result>} work
 */
async function withFile(path, work) {
  const file = await open(path).catch((cause) => {
    throw new FarmError('file-missing', `${path} cannot be opened. Put it there, or mount the folder on this machine`, {
      cause,
    });
  });
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/**
 * @param {import('node:fs/promises').FileHandle} file
 * @param {Pick<Reference, 'path' | 'from' | 'to'>} range
 */
async function read(file, { path, from, to }) {
  const bytes = new Uint8Array(to - from);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, from + at);
    if (bytesRead === 0)
      throw new FarmError('file-changed', `${path} ends before byte ${to}. Put the whole file there`);
    at += bytesRead;
  }
  return bytes;
}

/** @param {Uint8Array} bytes */
const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Returns the bytes of a reference. @param {Reference} reference @throws FarmError if they changed */
export const readReference = (reference) =>
  withFile(reference.path, async (file) => {
    const bytes = await read(file, reference);
    if (digestOf(bytes) === reference.sha256) return bytes;
    const { path, from, to } = reference;
    throw new FarmError(
      'file-changed',
      `bytes ${from} to ${to} of ${path} are not those that were submitted. Restore the file, or submit what it has now`,
    );
  });

/**
 * Refers to ranges of a file; to the whole file by default.
 *
 * @param {string} path
 * @param {readonly { from: number, to: number }[]} [ranges]
 * @returns {Promise<Reference[]>}
 */
const refer = (path, ranges) =>
  withFile(path, async (file) => {
    const references = [];
    for (const range of ranges ?? [{ from: 0, to: (await file.stat()).size }])
      references.push({ path, ...range, sha256: digestOf(await read(file, { path, ...range })) });
    return references;
  });

/**
 * Describes a proof by a key and a witness of snarkjs.
 *
 * @param {{ zkey: string, witness: string }} paths
 * @returns {Promise<Job>}
 */
export async function describeProof(paths) {
  const [[zkey], [witness]] = /** @type {[[Reference], [Reference]]} */ (
    await Promise.all([refer(paths.zkey), refer(paths.witness)])
  );
  return { id: uuidOf(`proof ${zkey.sha256} ${witness.sha256}`), task: { kind: 'proof', zkey, witness } };
}

const SCALAR_BYTES = 32;

/**
 * Describes an MSM as jobs for ranges of about equal length, whose sums add up to it. Reads both files
 * once, for the digests.
 *
 * @param {object} what
 * @param {import('webgpu-msm').NamedCurve} what.curve
 * @param {'g1' | 'g2'} [what.group]
 * @param {{ path: string, pointBytes: number, encoding?: import('webgpu-msm').PointEncoding }}
 *   what.bases at least as many points as scalars
 * @param {{ path: string, encoding?: import('webgpu-msm').ScalarEncoding }} what.scalars 32 bytes
 *   each, to the end of the file
 * @param {number} what.ranges number of ranges
 * @returns {Promise<Job[]>}
 */
export async function describe({ curve, group = 'g1', bases, scalars, ranges }) {
  const size = await withFile(scalars.path, async (file) => (await file.stat()).size);
  if (size === 0 || size % SCALAR_BYTES !== 0)
    throw new FarmError('bad-argument', `${scalars.path} has ${size} bytes; it must hold scalars of 32 bytes`);
  if (!Number.isSafeInteger(ranges) || ranges < 1)
    throw new FarmError('bad-argument', `ranges is ${ranges}; it must be a whole number, 1 or more`);
  const count = size / SCALAR_BYTES;
  const parts = Math.min(ranges, count);
  const edges = Array.from({ length: parts + 1 }, (_, i) => Math.floor((i * count) / parts));
  const cut = (/** @type {number} */ each) =>
    edges.slice(1).map((edge, i) => ({ from: /** @type {number} */ (edges[i]) * each, to: edge * each }));
  const points = await refer(bases.path, cut(bases.pointBytes));
  const values = await refer(scalars.path, cut(SCALAR_BYTES));
  return points.map((reference, i) => {
    const scalarsOfRange = /** @type {Reference} */ (values[i]);
    const encodings = [bases.encoding ?? 'le', scalars.encoding ?? 'le'];
    const digests = [reference.sha256, scalarsOfRange.sha256];
    return {
      // paths are not part of the content; equal ranges of one MSM are jobs of their own
      id: uuidOf(JSON.stringify([curve, group, encodings, digests, i])),
      task: /** @type {RangeTask} */ ({
        ...{ kind: 'range', curve, group },
        bases: { ...reference, encoding: encodings[0] },
        scalars: { ...scalarsOfRange, encoding: encodings[1] },
      }),
    };
  });
}
