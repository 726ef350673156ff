/**
 * Schema of dev/results/figures.json. A figure says where its value is, and how it is written; the
 * value itself stands in the row alone.
 */
import { z } from 'zod';
import { type FormatName, formats } from './format.js';

const text = z.string().min(1);
const where = z.record(text, z.unknown());

const common = {
  id: text,
  as: z.enum(Object.keys(formats) as FormatName[]),
  /** The figure of the same quantity whose row is newer. No page may use this one. */
  supersededBy: text.optional(),
  /** Pages may use it by its marker; otherwise tables alone do. */
  inline: z.boolean().optional(),
};

const rowFigure = z.strictObject({
  ...common,
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
export type RowFigure = z.infer<typeof rowFigure>;

/** The least and the greatest of some figures: one quantity on several machines. */
const rangeFigure = z.strictObject({ ...common, range: z.array(text) });

export type Figure = RowFigure | z.infer<typeof rangeFigure>;

/** Facts about a file that its rows do not have; `archive` is a reason to keep an unused file. */
const files = z.record(
  text,
  z.strictObject({ command: text.optional(), note: text.optional(), archive: text.optional() }),
);

export interface FigureFile {
  readonly files: z.infer<typeof files>;
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

/** @throws Error that lists what is wrong */
export const readFigures = (content: unknown): FigureFile => {
  const { figures: families, ...rest } = z.object({ files, figures: z.array(z.looseObject({})) }).parse(content);
  const figures = families.flatMap((family) => expand(family as Family)) as Figure[];
  const ids = figures.map(({ id }) => id);
  const problems = figures.flatMap((figure, i) => {
    const { error } = ('range' in figure ? rangeFigure : rowFigure).safeParse(figure);
    const others = [...('range' in figure ? figure.range : []), figure.supersededBy ?? []].flat();
    return [
      ...(error ? [z.prettifyError(error)] : []),
      ...(ids.indexOf(figure.id) < i ? ['given twice'] : []),
      ...others.filter((id) => !ids.includes(id)).map((id) => `there is no figure ${id}`),
    ].map((problem) => `${figure.id}: ${problem}`);
  });
  if (problems.length > 0) throw new Error(`figures.json:\n${problems.join('\n')}`);
  return { ...rest, figures };
};
