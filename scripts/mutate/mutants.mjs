/** Lists the mutants of the library, and reads the explanations in docs/contributing/mutants.md. */
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

/** Lists the mutants of a source. @param {string} file @returns {Mutant[]} */
export function mutantsOf(file) {
  const source = readFileSync(join(project, file), 'utf8');
  const lines = source.split('\n');
  return (file.endsWith('.ts') ? typescriptChanges : wgslChanges)(source).map((change) => {
    const row = lineOf(source, change.at);
    return { ...change, file, row, line: /** @type {string} */ (lines[row - 1]).trim() };
  });
}

/**
 * Orders mutants by a hash of the seed and of each mutant. So a change to one file leaves the order
 * of the others as it was.
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

/** Stands for every change of a line. */
const ANY = 'any';

/**
 * An explained mutant. The page lists them as `## file`, `- reason`, and below it
 * `the line as it stands in the file`: a change; another change.
 *
 * @typedef {{ file: string, line: string, changes: string[], reason: string }} Explanation
 */

/** Reads the explanations of the page. @param {string} [text] @returns {Explanation[]} */
export function explanations(text = readFileSync(join(project, 'docs/contributing/mutants.md'), 'utf8')) {
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
 * Returns whether an explanation covers a mutant.
 *
 * @param {Explanation} explanation
 * @param {{ file: string, line: string, what: string }} mutant
 */
export const explains = ({ file, line, changes }, mutant) =>
  file === mutant.file && line === mutant.line && (changes.includes(ANY) || changes.includes(mutant.what));
