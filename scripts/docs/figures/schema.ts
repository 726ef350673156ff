/**
 * Schema of dev/results/figures.json. A figure says where its value is, and how it is written; the
 * value itself stands in the row alone.
 */
import type { FormatName } from './format.js';
import { formats } from './format.js';
import type { Where } from './rows.js';

/**
 * How a value comes from rows:
 *
 * - `field`: that field of the one row.
 * - `median`, `sum`: over that field of all rows.
 * - `ratio`: the median of that field ÷ its median over the rows of `to`, with its interval.
 * - `sumRatio`: the same with sums.
 * - `share`: the median of that field ÷ the median of the field `of`.
 */
export type Value =
  | { readonly field: string }
  | { readonly median: string }
  | { readonly sum: string }
  | { readonly ratio: string; readonly to: Where }
  | { readonly sumRatio: string; readonly to: Where }
  | { readonly share: string; readonly of: string };

/** A figure of one row or of some rows of a file. */
export interface RowFigure {
  readonly id: string;
  readonly file: string;
  /** Path of the list of rows, in a file that is an object. */
  readonly list?: string;
  readonly where: Where;
  readonly value: Value;
  readonly as: FormatName;
  /** The figure of the same quantity whose row is newer. No page may use this one. */
  readonly supersededBy?: string;
  /** Pages may use it by its marker; otherwise tables alone do. */
  readonly inline?: boolean;
}

/** The least and the greatest of some figures: one quantity on several machines. */
export interface RangeFigure {
  readonly id: string;
  readonly range: readonly string[];
  readonly as: FormatName;
  readonly supersededBy?: string;
  readonly inline?: boolean;
}

export type Figure = RowFigure | RangeFigure;

/** Facts about a file of rows that its rows do not have. */
export interface FileNote {
  /** Command that made it, where its rows do not say. */
  readonly command?: string;
  /** Conditions that its rows do not say. */
  readonly note?: string;
  /** Reason to keep a file that no figure uses. */
  readonly archive?: string;
}

export interface FigureFile {
  readonly files: Readonly<Record<string, FileNote>>;
  readonly figures: readonly Figure[];
}

/** A figure for each value of some variables: `{ "each": { "logn": [10, 12] } }`. */
type Family = Record<string, unknown> & { readonly each?: Readonly<Record<string, readonly (string | number)[]>> };

/** Replaces `{logn}`, and `{2^logn}` by its number where it is the whole text. */
const fill = (part: unknown, values: ReadonlyMap<string, string | number>): unknown => {
  if (Array.isArray(part)) return part.map((each) => fill(each, values));
  if (typeof part === 'object' && part !== null)
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, fill(value, values)]));
  if (typeof part !== 'string') return part;
  const whole = /^\{(2\^)?(\w+)\}$/.exec(part);
  if (whole !== null) {
    const value = values.get(whole[2] as string);
    if (value !== undefined) return whole[1] === undefined ? value : 2 ** Number(value);
  }
  return part.replaceAll(/\{(\w+)\}/g, (text, name: string) => String(values.get(name) ?? text));
};

const expand = ({ each = {}, ...family }: Family): unknown[] =>
  Object.entries(each)
    .reduce<(readonly (readonly [string, string | number])[])[]>(
      (all, [name, values]) => all.flatMap((before) => values.map((value) => [...before, [name, value] as const])),
      [[]],
    )
    .map((values) => fill(family, new Map(values)));

const names = {
  figure: ['id', 'file', 'list', 'where', 'value', 'as', 'supersededBy', 'inline', 'range'],
  file: ['command', 'note', 'archive'],
  values: [['field'], ['median'], ['sum'], ['ratio', 'to'], ['sumRatio', 'to'], ['share', 'of']],
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Returns what is wrong with a figure, or null. */
const problemOf = (figure: unknown): string | null => {
  if (!isObject(figure) || !isText(figure.id)) return 'a figure has no id';
  const { id, as, file, where, value, range, supersededBy } = figure;
  const unknown = Object.keys(figure).find((name) => !names.figure.includes(name));
  if (unknown !== undefined) return `${id}: ${unknown} is no field of a figure`;
  if (!isText(as) || !Object.hasOwn(formats, as)) return `${id}: as is none of ${Object.keys(formats).join(', ')}`;
  if (supersededBy !== undefined && !isText(supersededBy)) return `${id}: supersededBy is not an id`;
  if (range !== undefined) return Array.isArray(range) && range.every(isText) ? null : `${id}: range is no list of ids`;
  if (!isText(file)) return `${id}: file is missing`;
  if (!isObject(where)) return `${id}: where is missing`;
  const fields = isObject(value) ? Object.keys(value) : [];
  const isKnown = names.values.some(
    (kind) => kind.length === fields.length && kind.every((name) => fields.includes(name)),
  );
  return isKnown ? null : `${id}: value is none of ${names.values.map((kind) => kind.join(' and ')).join('; ')}`;
};

/** @throws Error that lists what is wrong */
export const readFigures = (content: unknown): FigureFile => {
  if (!isObject(content) || !isObject(content.files) || !Array.isArray(content.figures))
    throw new Error('figures.json needs files and figures');
  const figures = content.figures.flatMap((family) => expand(family as Family));
  const problems = figures.map(problemOf).filter((problem) => problem !== null);
  const ids = figures.map((figure) => (figure as Figure).id);
  for (const id of new Set(ids.filter((each, i) => ids.indexOf(each) !== i))) problems.push(`${id}: given twice`);
  for (const figure of figures as Figure[]) {
    const others = [...('range' in figure ? figure.range : []), ...(figure.supersededBy ? [figure.supersededBy] : [])];
    for (const other of others) if (!ids.includes(other)) problems.push(`${figure.id}: there is no figure ${other}`);
  }
  for (const [file, note] of Object.entries(content.files)) {
    const isRight =
      isObject(note) && Object.entries(note).every(([name, text]) => names.file.includes(name) && isText(text));
    if (!isRight) problems.push(`files: ${file} has more than texts of ${names.file.join(', ')}`);
  }
  if (problems.length > 0) throw new Error(`figures.json:\n${problems.join('\n')}`);
  return { files: content.files as FigureFile['files'], figures: figures as Figure[] };
};
