/**
 * References to bytes: a range of a file, with its digest. A changed file gives an error, never a
 * wrong sum.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { FarmError } from './errors.js';

/** @typedef {{ path: string, from: number, to: number, sha256: string }} Reference */

/** Bytes read at a time to compute a digest. */
const CHUNK = 2 ** 22;

/** @param {string} path */
async function openFile(path) {
  try {
    return await open(path);
  } catch (error) {
    throw new FarmError('file-missing', `${path} cannot be opened. Put it there, or mount the folder on this machine`, {
      cause: error,
    });
  }
}

/**
 * @param {import('node:fs/promises').FileHandle} file
 * @param {string} path
 * @param {number} from
 * @param {number} to
 */
async function read(file, path, from, to) {
  const bytes = new Uint8Array(to - from);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, from + at);
    if (bytesRead === 0)
      throw new FarmError('file-changed', `${path} ends at byte ${from + at}, before ${to}. Put the whole file there`);
    at += bytesRead;
  }
  return bytes;
}

/** @param {string} path */
export async function sizeOf(path) {
  const file = await openFile(path);
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/**
 * Computes the digests of ranges of a file.
 *
 * @param {string} path
 * @param {readonly { from: number, to: number }[]} ranges
 * @returns {Promise<Reference[]>}
 */
export async function refer(path, ranges) {
  const file = await openFile(path);
  try {
    const references = [];
    for (const { from, to } of ranges) {
      const hash = createHash('sha256');
      for (let at = from; at < to; at += CHUNK) hash.update(await read(file, path, at, Math.min(at + CHUNK, to)));
      references.push({ path, from, to, sha256: hash.digest('hex') });
    }
    return references;
  } finally {
    await file.close();
  }
}

/**
 * Returns the referenced bytes, or throws if they changed.
 *
 * @param {Reference} reference
 */
export async function readReference({ path, from, to, sha256 }) {
  const file = await openFile(path);
  try {
    const bytes = await read(file, path, from, to);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
      throw new FarmError(
        'file-changed',
        `bytes ${from} to ${to} of ${path} are not those that were submitted. Restore the file, or submit what it has now`,
      );
    }
    return bytes;
  } finally {
    await file.close();
  }
}
