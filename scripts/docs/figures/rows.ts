/** Reads the rows of dev/results and selects some of them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A row of a run: JSON, as the bench writes it. */
export type Row = Readonly<Record<string, unknown>>;

/** Values that fields of a row must have. A name with dots is a path: `adapter.vendor`. */
export type Where = Readonly<Record<string, unknown>>;

/** The folder of all rows. */
export const resultsFolder = join(dirname(fileURLToPath(import.meta.url)), '../../../dev/results');

/** Rows that the dev server writes, which git ignores. */
const unversioned = ['progress.jsonl', 'results.jsonl'];

/** Returns the names of the versioned files of rows. */
export const rowFiles = (): string[] =>
  readdirSync(resultsFolder)
    .filter((name) => name !== 'figures.json' && !unversioned.includes(name))
    .sort();

const parsed = new Map<string, unknown>();

const parse = (name: string): unknown => {
  const text = readFileSync(join(resultsFolder, name), 'utf8');
  if (!name.endsWith('.jsonl')) return JSON.parse(text);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
};

/** @throws Error if there is no such file */
export const contentOf = (name: string): unknown => {
  if (!existsSync(join(resultsFolder, name))) throw new Error(`dev/results/${name} does not exist`);
  if (!parsed.has(name)) parsed.set(name, parse(name));
  return parsed.get(name);
};

/** Returns the value at a path: `findings.0.value`; undefined if there is none. */
export const valueAt = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], row);

/**
 * Returns the rows of a file.
 *
 * @param list path of the list of rows in a file that is an object; the object is the one row by
 * default
 * @throws Error if the file or its list does not exist
 */
export const rowsIn = (name: string, list?: string): readonly Row[] => {
  const content = contentOf(name);
  const rows = list === undefined ? content : valueAt(content, list);
  if (Array.isArray(rows)) return rows;
  if (list !== undefined) throw new Error(`dev/results/${name} has no list ${list}`);
  return [content as Row];
};

export const select = (rows: readonly Row[], where: Where): Row[] =>
  rows.filter((row) => Object.entries(where).every(([path, value]) => valueAt(row, path) === value));
