/**
 * Figures: measured values, as pages write them. dev/results/figures.json says in which row of
 * dev/results the value of each is; the value itself stands in the row alone.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { leastPairs, median, ratioOfMedians } from '../../src/calibrate/statistics.js';

/** A row of a run: JSON, as the bench writes it. */
export type Row = Readonly<Record<string, unknown>>;

/** Values that fields of a row must have. A name with dots is a path: `adapter.vendor`. */
type Where = Readonly<Record<string, unknown>>;

const resultsFolder = join(dirname(fileURLToPath(import.meta.url)), '../../dev/results');

/** Files that the dev server writes, which git ignores. */
const unversioned = ['progress.jsonl', 'results.jsonl'];

/** Returns the names of the versioned files of rows. */
export const rowFiles = (): string[] =>
  readdirSync(resultsFolder)
    .filter((name) => name !== 'figures.json' && !unversioned.includes(name))
    .sort();

const parsed = new Map<string, unknown>();

/** @throws Error if there is no such file */
function contentOf(name: string): unknown {
  const path = join(resultsFolder, name);
  if (!existsSync(path)) throw new Error(`dev/results/${name} does not exist`);
  if (!parsed.has(name)) {
    const text = readFileSync(path, 'utf8');
    const lines = () => text.split('\n').filter((line) => line !== '');
    parsed.set(name, name.endsWith('.jsonl') ? lines().map((line) => JSON.parse(line)) : JSON.parse(text));
  }
  return parsed.get(name);
}

/** Returns the value at a path: `findings.0.value`; undefined if there is none. */
export const valueAt = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Row | null)?.[name], row);

/**
 * Returns the rows of a file.
 *
 * @param list path of the list of rows in a file that is an object; such a file is one row by default
 * @throws Error if the file or its list does not exist
 */
export function rowsIn(name: string, list?: string): readonly Row[] {
  const content = contentOf(name);
  const rows = list === undefined ? content : valueAt(content, list);
  if (Array.isArray(rows)) return rows;
  if (list !== undefined) throw new Error(`dev/results/${name} has no list ${list}`);
  return [content as Row];
}

/** A measured value, with its 95 % interval where there are enough pairs for one. */
interface Measured {
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

const grouped = (value: number, decimals: number): string =>
  value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

function short(value: number): string {
  const size = Math.abs(value);
  return grouped(value, size >= 9.95 || size === 0 ? 0 : size >= 0.995 ? 1 : size >= 0.095 ? 2 : 3);
}

const factor = (value: number): string => grouped(value, value >= 9.95 ? 0 : value >= 1.095 ? 1 : 2);

const ratio = (value: number): string => grouped(value, value >= 9.95 ? 1 : 2);

/** Writes a ratio of times, ours ÷ theirs, as a speed. */
function faster({ value, low, high }: Measured): string {
  if (low !== undefined && high !== undefined && low <= 1 && high >= 1)
    return `no significant difference (${ratio(low)} to ${ratio(high)})`;
  return value < 1 ? `${factor(1 / value)} × faster` : `${factor(value)} × slower`;
}

/** Units and formats of figures. */
export const formats = {
  ms: ({ value }: Measured) => (value >= 10_000 ? `${grouped(value / 1000, 1)} s` : `${short(value)} ms`),
  seconds: ({ value }: Measured) => `${short(value)} s`,
  'ms as s': ({ value }: Measured) => `${grouped(value / 1000, 1)} s`,
  megabytes: ({ value }: Measured) => `${short(value)} MB`,
  'bytes as MB': ({ value }: Measured) => `${grouped(value / 1e6, 1)} MB`,
  'rate as M/s': ({ value }: Measured) => grouped(value / 1e6, 2),
  count: ({ value }: Measured) => grouped(value, 0),
  'count and tenths': ({ value }: Measured) => grouped(value, 1),
  percent: ({ value }: Measured) => `${grouped(100 * value, 100 * value < 9.95 ? 1 : 0)} %`,
  ratio: ({ value }: Measured) => ratio(value),
  'ratio and interval': ({ value, low, high }: Measured) =>
    ratio(value) + (low === undefined || high === undefined ? '' : ` (${ratio(low)} to ${ratio(high)})`),
  faster,
} as const satisfies Readonly<Record<string, (measured: Measured) => string>>;

const text = z.string().min(1);
const where = z.record(text, z.unknown());

const figure = z.strictObject({
  id: text,
  as: z.enum(Object.keys(formats) as (keyof typeof formats)[]),
  /** The figure of the same quantity whose row is newer. No page may use this one. */
  supersededBy: text.optional(),
  file: text,
  /** Path of the list of rows, in a file that is an object. */
  list: text.optional(),
  where,
  value: z.union([
    /** That field of the one row. */
    z.strictObject({ field: text }),
    /** Over that field of all rows. */
    z.strictObject({ median: text }),
    z.strictObject({ sum: text }),
    /** The median of that field ÷ its median over the rows of `to`, with its interval. */
    z.strictObject({ ratio: text, to: where }),
    /** The same with sums. */
    z.strictObject({ sumRatio: text, to: where }),
    /** The median of that field ÷ the median of the field `of`. */
    z.strictObject({ share: text, of: text }),
  ]),
});
export type Figure = z.infer<typeof figure>;

/** Facts about a file that its rows do not have; `archive` is a reason to keep an unused file. */
const files = z.record(
  text,
  z.strictObject({ command: text.optional(), note: text.optional(), archive: text.optional() }),
);

/** A figure for each value of some variables: `{ "each": { "logn": [10, 12] } }`. */
type Family = Row & { readonly each?: Readonly<Record<string, readonly (string | number)[]>> };

/** Replaces `{logn}`, and `{2^logn}` by its number where it is the whole text. */
function fill(part: unknown, values: ReadonlyMap<string, string | number>): unknown {
  if (Array.isArray(part)) return part.map((each) => fill(each, values));
  if (typeof part === 'object' && part !== null)
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, fill(value, values)]));
  if (typeof part !== 'string') return part;
  const [, isPower, name = ''] = /^\{(2\^)?(\w+)\}$/.exec(part) ?? [];
  const value = values.get(name);
  if (value !== undefined) return isPower === undefined ? value : 2 ** Number(value);
  return part.replaceAll(/\{(\w+)\}/g, (all, each: string) => String(values.get(each) ?? all));
}

const expand = ({ each = {}, ...family }: Family): unknown[] =>
  Object.entries(each)
    .reduce<(readonly (readonly [string, string | number])[])[]>(
      (all, [name, values]) => all.flatMap((before) => values.map((value) => [...before, [name, value] as const])),
      [[]],
    )
    .map((values) => fill(family, new Map(values)));

/** @throws Error that lists what is wrong */
function readFigures(content: unknown) {
  const { figures: families, ...rest } = z.object({ files, figures: z.array(z.looseObject({})) }).parse(content);
  const figures = families.flatMap((family) => expand(family as Family)) as Figure[];
  const ids = figures.map(({ id }) => id);
  const problems = figures.flatMap((each, i) => {
    const { error } = figure.safeParse(each);
    const { id, supersededBy } = each;
    return [
      ...(error ? [z.prettifyError(error)] : []),
      ...(ids.indexOf(id) < i ? ['given twice'] : []),
      ...(supersededBy === undefined || ids.includes(supersededBy) ? [] : [`there is no figure ${supersededBy}`]),
    ].map((problem) => `${id}: ${problem}`);
  });
  if (problems.length > 0) throw new Error(`figures.json:\n${problems.join('\n')}`);
  return { ...rest, figures };
}

function measure({ id, file, list, value, where: own }: Figure): Measured {
  const numbers = (path: string, those: Where = own): number[] => {
    const rows = rowsIn(file, list).filter((row) =>
      Object.entries(those).every(([name, wanted]) => valueAt(row, name) === wanted),
    );
    if (rows.length === 0) throw new Error(`${id}: dev/results/${file} has no row with ${JSON.stringify(those)}`);
    return rows.map((row) => {
      const found = valueAt(row, path);
      if (typeof found === 'number' && Number.isFinite(found)) return found;
      throw new Error(`${id}: ${path} of its row is no number`);
    });
  };
  const middle = (path: string, those?: Where) => median(numbers(path, those)) as number;
  const sum = (path: string, those?: Where) => numbers(path, those).reduce((all, each) => all + each, 0);
  if ('median' in value) return { value: middle(value.median) };
  if ('sum' in value) return { value: sum(value.sum) };
  if ('sumRatio' in value) return { value: sum(value.sumRatio) / sum(value.sumRatio, value.to) };
  if ('share' in value) return { value: middle(value.share) / middle(value.of) };
  if ('ratio' in value) {
    const [ours, theirs] = [numbers(value.ratio), numbers(value.ratio, value.to)];
    if (ours.length < leastPairs || ours.length !== theirs.length)
      return { value: middle(value.ratio) / middle(value.ratio, value.to) };
    const { ratio: found, low, high } = ratioOfMedians(theirs, ours);
    return { value: found, low, high };
  }
  const found = numbers(value.field);
  if (found.length !== 1) throw new Error(`${id}: ${found.length} rows instead of one`);
  return { value: found[0] as number };
}

/** The figures of dev/results/figures.json. */
export class Figures {
  readonly all: readonly Figure[];
  readonly files: z.infer<typeof files>;

  constructor(content: unknown = contentOf('figures.json')) {
    const { figures, files: facts } = readFigures(content);
    this.all = figures;
    this.files = facts;
  }

  find(id: string): Figure | undefined {
    return this.all.find((each) => each.id === id);
  }

  /**
   * Returns the text of a figure for a page.
   *
   * @throws Error if there is no such figure or row, or a newer row supersedes it
   */
  text(id: string): string {
    const found = this.find(id);
    if (found === undefined) throw new Error(`dev/results/figures.json has no figure ${id}`);
    if (found.supersededBy !== undefined) throw new Error(`${id} is superseded by ${found.supersededBy}`);
    return formats[found.as](measure(found));
  }
}

const experiment = z.strictObject({
  id: text.regex(/^[a-z0-9-]+$/),
  date: z.iso.date(),
  machine: text,
  adapter: text,
  /** Null where nobody wrote it down. */
  command: text.nullable(),
  /** Numbers of scalars; empty where there is no such number. */
  n: z.array(z.int().positive()),
  reps: z.number().nullable(),
  what: text,
  before: text.nullable(),
  after: text.nullable(),
  /** After ÷ before; the first of several sizes. */
  ratio: z.number().positive().nullable(),
  /** 95 % interval of the ratio, or the range where `why` says so. */
  interval: z
    .tuple([z.number(), z.number()])
    .refine(([low, high]) => low <= high)
    .nullable(),
  /** Null for a measurement that decides nothing. */
  kept: z.boolean().nullable(),
  why: text,
  /** The same measurement, made again later. */
  supersededBy: text.optional(),
});
export type Experiment = z.infer<typeof experiment>;

const experiments = z.array(experiment).superRefine((all, { addIssue }) => {
  const ids = new Set(all.map(({ id }) => id));
  if (ids.size < all.length) addIssue('an id is given twice');
  for (const { id, supersededBy } of all)
    if (supersededBy !== undefined && !ids.has(supersededBy)) addIssue(`${id}: supersededBy is no id`);
});

/** Reads a line for each experiment that was measured. @throws Error that lists those that are none */
export function readExperiments(rows: readonly unknown[] = rowsIn('experiments.jsonl')): readonly Experiment[] {
  const { error, data } = experiments.safeParse(rows);
  if (error) throw new Error(`experiments.jsonl:\n${z.prettifyError(error)}`);
  return data;
}
