/** The mutants of the library, and those that docs/mutants.md explains. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from '../builds.mjs';
import { lineOf, wgslChanges } from './operators.mjs';
import { typescriptChanges } from './typescript.mjs';

/** @typedef {import('./operators.mjs').Change & { file: string, row: number, line: string }} Mutant */

/** Sources of src/ and wgsl/. */
export const sources = ['src', 'wgsl']
  .flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((path) => /(?<!\.d)\.ts$|\.wgsl$/.test(path))
  .sort();

/** @param {string} file @returns {Mutant[]} */
export function mutantsOf(file) {
  const source = readFileSync(join(project, file), 'utf8');
  const lines = source.split('\n');
  return (file.endsWith('.ts') ? typescriptChanges : wgslChanges)(source).map((change) => {
    const row = lineOf(source, change.at);
    return { ...change, file, row, line: /** @type {string} */ (lines[row - 1]).trim() };
  });
}

/**
 * In an order that the seed decides alone: a change to one file does not shuffle the others.
 *
 * @param {number} seed
 * @param {readonly Mutant[]} mutants
 */
export function shuffled(seed, mutants) {
  const keyed = mutants.map((mutant) => {
    const { file, at, to } = mutant;
    return { mutant, key: createHash('sha256').update(`${seed} ${file} ${at} ${to}`).digest('hex') };
  });
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ mutant }) => mutant);
}

/** Every change of a line. */
const ANY = 'any';

/**
 * Of the list: `## file`, `- reason`, and below it `the line as it stands in the file`: what is changed; what else is changed.
 *
 * @typedef {{ file: string, line: string, changes: string[], reason: string }} Explanation
 */

/** @param {string} [text] @returns {Explanation[]} */
export function explanations(text = readFileSync(join(project, 'docs/mutants.md'), 'utf8')) {
  let [file, reason] = ['', ''];
  return text.split('\n').flatMap((row) => {
    file = /^## `(.+)`$/.exec(row)?.[1] ?? file;
    reason = /^- (.+)$/.exec(row)?.[1] ?? reason;
    const [, , line, changes] = /^ {2}- (`+) ?(.+?) ?\1: (.+)$/.exec(row) ?? [];
    if (line === undefined || changes === undefined) return [];
    return [{ file, line, changes: changes.split('; ').map((change) => change.replace(/^`+ ?| ?`+$/g, '')), reason }];
  });
}

/**
 * @param {Explanation} explanation
 * @param {{ file: string, line: string, what: string }} mutant
 */
export const explains = ({ file, line, changes }, mutant) =>
  file === mutant.file && line === mutant.line && (changes.includes(ANY) || changes.includes(mutant.what));
