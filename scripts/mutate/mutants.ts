/** Lists the mutants of the library, and explains the harmless ones. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from '../builds.mjs';
import { type Change, lineOf, wgslChanges } from './operators.js';
import { typescriptChanges } from './typescript.js';

export type Mutant = Change & { file: string; row: number; line: string };

export const sources = ['src', 'wgsl']
  .flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((path) => /(?<!\.d)\.ts$|\.wgsl$/.test(path))
  .sort();

export function mutantsOf(file: string): Mutant[] {
  const source = readFileSync(join(project, file), 'utf8');
  const lines = source.split('\n');
  return (file.endsWith('.ts') ? typescriptChanges : wgslChanges)(source).map((change) => {
    const row = lineOf(source, change.at);
    return { ...change, file, row, line: (lines[row - 1] as string).trim() };
  });
}

/**
 * Orders mutants by a hash of the seed and of each mutant. So a change to one file leaves the order
 * of the others as it was.
 */
export function shuffled(seed: number, mutants: readonly Mutant[]) {
  const keyed = mutants.map((mutant) => {
    const { file, at, to } = mutant;
    return { mutant, key: createHash('sha256').update(`${seed} ${file} ${at} ${to}`).digest('hex') };
  });
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ mutant }) => mutant);
}

/** Stands for every change of a line. */
const ANY = 'any';

interface Explanation {
  readonly file: string;
  readonly reason: string;
  /** Lines of the source, with those of their changes that are harmless. */
  readonly lines: Readonly<Record<string, readonly string[]>>;
}

export const explanations: readonly Explanation[] = JSON.parse(
  readFileSync(join(project, 'scripts/mutate/harmless.json'), 'utf8'),
);

export const explains = (
  { file, lines }: Explanation,
  { file: own, line, what }: { file: string; line: string; what: string },
) => file === own && lines[line]?.some((change) => change === ANY || change === what) === true;
