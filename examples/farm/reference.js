/** Bytes by reference: where in which file, and what their digest is. A file that changed is an error, and never a wrong sum. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { FarmError } from './errors.js';

/** @typedef {{ path: string, from: number, to: number, sha256: string }} Reference */

/** Read at a time while a file is digested. */
const PIECE = 2 ** 22;

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
 * The digests of stretches of a file.
 *
 * @param {string} path
 * @param {readonly { from: number, to: number }[]} stretches
 * @returns {Promise<Reference[]>}
 */
export async function refer(path, stretches) {
  const file = await openFile(path);
  try {
    const references = [];
    for (const { from, to } of stretches) {
      const hash = createHash('sha256');
      for (let at = from; at < to; at += PIECE) hash.update(await read(file, path, at, Math.min(at + PIECE, to)));
      references.push({ path, from, to, sha256: hash.digest('hex') });
    }
    return references;
  } finally {
    await file.close();
  }
}

/**
 * The bytes that are meant, or an error.
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
