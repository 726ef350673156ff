/** JSON files of snarkjs: read with errors that show no value, written as snarkjs writes them. */
import { readFile, writeFile } from 'node:fs/promises';
import { MsmError } from '../index.js';

/**
 * Reads a JSON file.
 *
 * @throws MsmError `bad-argument` if it is no JSON, without its text, which may be secret; and errors
 *   of the file system
 */
export const readJson = async (path: string): Promise<unknown> => {
  const text = await readFile(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw new MsmError('bad-argument', `${path} is not JSON; check that it is the right file`);
  }
};

/** Returns a value as snarkjs writes it. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 1);

/** Writes a JSON file. */
export const writeJson = (path: string, value: unknown): Promise<void> => writeFile(path, jsonText(value));
