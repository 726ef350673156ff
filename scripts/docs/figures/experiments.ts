/** Reads dev/results/experiments.jsonl: a line for each experiment that was measured. */
import { z } from 'zod';
import { rowsIn } from './rows.js';

const text = z.string().min(1);

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

/** @throws Error that lists the lines that are no experiments */
export function readExperiments(rows: readonly unknown[] = rowsIn('experiments.jsonl')): readonly Experiment[] {
  const { error, data } = experiments.safeParse(rows);
  if (error) throw new Error(`experiments.jsonl:\n${z.prettifyError(error)}`);
  return data;
}
