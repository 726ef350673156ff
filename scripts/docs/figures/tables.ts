/**
 * Tables of figures, for README.md and docs/reference/performance.md: tables.json says what is in
 * each, but for three that have rows of many kinds.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { code, table } from '../markdown.js';
import { readExperiments } from './experiments.js';
import type { Figures } from './measured.js';
import { grid, list, measurements, power, ratioText, sourcesOf } from './table-parts.js';

const text = z.string();

/** A table of tables.json. `{n}` in the id of a figure is the number of its line. */
const definition = z.union([
  /** A line for each number for which there is a figure `of`; powers of two unless `plain`. */
  z.strictObject({
    ...{ rows: text, of: text, columns: z.array(z.tuple([text, text])) },
    plain: z.literal(true).optional(),
  }),
  /** Lines with a name and the ids of their figures. */
  z.strictObject({ head: z.array(text), lines: z.array(z.tuple([text], text)) }),
  /** All experiments whose ids begin so. */
  z.strictObject({ experiments: text, head: text }),
]);

const definitions = z
  .record(text, definition)
  .parse(JSON.parse(readFileSync(new URL('tables.json', import.meta.url), 'utf8')));

/** Returns the sizes, callers and so on for which a figure exists: `cpu-g1-12-ms` has 12. */
const valuesOf = (figures: Figures, pattern: RegExp): number[] => [
  ...new Set(figures.all.flatMap(({ id }) => pattern.exec(id)?.[1] ?? []).map(Number)),
];

const provers = (figures: Figures): string => {
  const systems = { groth16: 'Groth16', plonk: 'PLONK', fflonk: 'FFLONK' };
  const cell = (id: string): string => (figures.has(id) ? figures.text(id) : '');
  return table(
    ['proof system', 'domain', 'snarkjs', 'with the library’s MSMs', 'whole proof by the library', ''],
    Object.entries(systems).flatMap(([system, title]) =>
      valuesOf(figures, new RegExp(`^proof-${system}-(\\d+)-snarkjs-ms$`)).map((logn) => {
        const id = `proof-${system}-${logn}`;
        const measured = ['snarkjs-ms', 'hooks', 'whole-ms', 'whole'].map((what) => cell(`${id}-${what}`));
        return [title, power(logn), ...measured];
      }),
    ),
  );
};

const proverSources = (figures: Figures): string =>
  sourcesOf(
    figures,
    figures.all.flatMap(({ id, supersededBy }) => (id.startsWith('proof-') && !supersededBy ? [id] : [])),
  );

const kept = (is: boolean | null): string => (is === null ? '' : is ? 'yes' : 'no');

const experiments = (): string =>
  table(
    ['id', 'what', 'ratio', 'kept'],
    readExperiments()
      .filter(({ supersededBy }) => supersededBy === undefined)
      .map(({ id, what, kept: is, ...compared }) => [code(id), what, ratioText(compared), kept(is)]),
  );

const tableOf = (figures: Figures, defined: z.infer<typeof definition>): string => {
  if ('experiments' in defined) return measurements(defined.experiments, defined.head);
  if ('lines' in defined) return list(figures, defined.head, defined.lines);
  const { rows, of, columns, plain } = defined;
  return grid(
    figures,
    rows,
    valuesOf(figures, new RegExp(`^${of.replace('{n}', '(\\d+)')}$`)),
    columns.map(([title, id]) => [title, (n) => id.replace('{n}', String(n))] as const),
    plain ? String : power,
  );
};

export const tables: Readonly<Record<string, (figures: Figures) => string>> = {
  provers,
  'provers-sources': proverSources,
  experiments,
  ...Object.fromEntries(
    Object.entries(definitions).map(([name, defined]) => [name, (figures: Figures) => tableOf(figures, defined)]),
  ),
};
