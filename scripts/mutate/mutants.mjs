/** Lists the mutants of the library, and explains the harmless ones. */
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
 * Lines of a source, as they stand in the file, with those of their changes that are harmless.
 *
 * @typedef {{ file: string, reason: string, lines: Readonly<Record<string, readonly string[]>> }} Explanation
 */

/** @type {readonly Explanation[]} */
export const explanations = JSON.parse(readFileSync(join(project, 'scripts/mutate/harmless.json'), 'utf8'));

/**
 * Returns whether an explanation covers a mutant.
 *
 * @param {Explanation} explanation
 * @param {{ file: string, line: string, what: string }} mutant
 */
export const explains = ({ file, lines }, { file: own, line, what }) =>
  file === own && lines[line]?.some((change) => change === ANY || change === what) === true;
