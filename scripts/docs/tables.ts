/**
 * Tables of figures, for README.md and docs/reference/performance.md: tables.json says what is in
 * each, but for three that have rows of many kinds.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { benchModes } from '../../dev/bench/modes.js';
import { type Experiment, type Figures, type Row, readExperiments, rowsIn, valueAt } from './figures.js';
import { code, table } from './markdown.js';

const power = (logn: number): string => `2^${logn}`;

interface Environment {
  readonly runtime?: string;
  readonly cores?: number;
  readonly os?: string;
}

/**
 * Returns the command of a run from the address that its first row has; undefined for a mode that
 * the bench no longer has.
 */
const commandOf = (query: string): string | undefined => {
  const asked = new URLSearchParams(query);
  const mode = asked.get('autorun');
  asked.delete('autorun');
  // modes that have another name in a terminal today
  const today: Readonly<Record<string, string>> = {
    'msm-bench': 'run',
    sweep: 'run',
    'accum-ab': 'run',
    'msm-trace': 'run --trace',
  };
  const name = mode === 'load' && asked.has('encodings') ? 'run --phase load' : (today[mode ?? ''] ?? mode);
  if (mode === null || (name === mode && !Object.hasOwn(benchModes, mode))) return undefined;
  return ['npm run bench --', name, ...[...asked].map(([key, value]) => `--${key} ${value}`)].join(' ');
};

/** Returns how a file of rows was measured, from its first row: adapter, runtime, command. */
const sourceOf = (figures: Figures, file: string): string => {
  const [first = {}] = rowsIn(file) as readonly Row[];
  const environment = (first.environment ?? {}) as Environment | string;
  const described = valueAt(first, 'adapter.description') as string | undefined;
  const vendor = String(valueAt(first, 'adapter.vendor'));
  // drivers of chips name themselves there, and the chip in another place
  const isDriver = vendor !== 'google' && described?.toLowerCase().startsWith(vendor);
  const adapter = (isDriver ? `${valueAt(first, 'adapter.device')}, ${described}` : described) || 'no GPU';
  const note = figures.files[file];
  const query = first.query;
  const command = note?.command ?? (typeof query === 'string' ? commandOf(query) : undefined);
  const isOnCpu =
    adapter.startsWith('no GPU') || (typeof query === 'string' && /backend=cpu|cpubelow=65536/.test(query));
  const backend = isOnCpu ? 'CPU' : adapter;
  const runtime =
    typeof environment === 'string'
      ? environment
      : `${environment.runtime ?? `Node ${String(first.node ?? '20')}`}, ${environment.cores ?? 2} cores`;
  return [
    `${backend}; ${runtime}${note?.note ? `; ${note.note}` : ''}`,
    ...(command === undefined ? [] : [code(command)]),
    `rows: ${code(`dev/results/${file}`)}`,
  ].join('; ');
};

/** Returns how the files of some figures were measured, a line for each. */
const sourcesOf = (figures: Figures, ids: readonly string[]): string => {
  return [...new Set(ids.flatMap((id) => figures.find(id)?.file ?? []))]
    .map((file) => `- ${sourceOf(figures, file)}.`)
    .join('\n');
};

/** Returns a table of figures: a line for each number, a column for each id with that number. */
const grid = (
  figures: Figures,
  name: string,
  numbers: readonly number[],
  columns: readonly (readonly [head: string, id: (number: number) => string])[],
  write: (number: number) => string = power,
): string => {
  const lines = numbers.map((number) => ({ number, ids: columns.map(([, id]) => id(number)) }));
  const text = (id: string): string => (figures.find(id) ? figures.text(id) : '');
  const rows = lines.map(({ number, ids }) => [write(number), ...ids.map(text)]);
  const sources = sourcesOf(
    figures,
    lines.flatMap(({ ids }) => ids),
  );
  return `${table([name, ...columns.map(([head]) => head)], rows)}\n\n${sources}`;
};

/** Returns a table of figures by their ids, with a name for each line. */
const list = (
  figures: Figures,
  head: readonly string[],
  lines: readonly (readonly [name: string, ...ids: string[]])[],
): string => {
  const rows = lines.map(([name, ...ids]) => [name, ...ids.map((id) => figures.text(id))]);
  const sources = sourcesOf(
    figures,
    lines.flatMap(([, ...ids]) => ids),
  );
  return `${table(head, rows)}\n\n${sources}`;
};

const digits = (ratio: number): string => ratio.toFixed(ratio < 0.1 ? 3 : 2);

/** Returns the ratio of an experiment with its interval. */
const ratioText = ({ ratio, interval }: Pick<Experiment, 'ratio' | 'interval'>): string =>
  [ratio && digits(ratio), interval && `(${interval.map(digits).join(' to ')})`].filter(Boolean).join(' ');

/** Experiments whose ids begin with a name, with what was measured. */
const measurements = (prefix: string, head: string): string =>
  table(
    [head, 'n', 'before', 'after', 'ratio', 'row'],
    readExperiments()
      .filter(({ id, supersededBy }) => id.startsWith(prefix) && supersededBy === undefined)
      .map(({ id, what, n, before, after, ...compared }) => [
        what,
        n.map((each) => (Number.isInteger(Math.log2(each)) ? power(Math.log2(each)) : String(each))).join(', '),
        before ?? '',
        after ?? '',
        ratioText(compared),
        code(id),
      ]),
  );

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
  const cell = (id: string): string => (figures.find(id) ? figures.text(id) : '');
  return table(
    ['proof system', 'domain', 'snarkjs', 'with the library’s MSMs', 'whole proof by the library', '', 'first proof'],
    Object.entries(systems).flatMap(([system, title]) =>
      valuesOf(figures, new RegExp(`^proof-${system}-(\\d+)-snarkjs-ms$`)).map((logn) => {
        const id = `proof-${system}-${logn}`;
        const measured = ['snarkjs-ms', 'hooks', 'whole-ms', 'whole'].map((what) => cell(`${id}-${what}`));
        return [title, power(logn), ...measured, cell(`first-${id}`)];
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
