/** Reads dev/results/experiments.jsonl: a line for each experiment that was measured. */
import { rowsIn } from './rows.js';

export interface Experiment {
  readonly id: string;
  /** Day of the measurement, `2026-11-21`. */
  readonly date: string;
  readonly machine: string;
  readonly adapter: string;
  /** Null where nobody wrote it down. */
  readonly command: string | null;
  /** Numbers of scalars; empty where there is no such number. */
  readonly n: readonly number[];
  readonly reps: number | null;
  readonly what: string;
  readonly before: string | null;
  readonly after: string | null;
  /** After ÷ before; the first of several sizes. */
  readonly ratio: number | null;
  /** 95 % interval of the ratio, or the range where `why` says so. */
  readonly interval: readonly [low: number, high: number] | null;
  /** Null for a measurement that decides nothing. */
  readonly kept: boolean | null;
  readonly why: string;
  /** The same measurement, made again later. */
  readonly supersededBy?: string;
}

/** Name of the file in dev/results. */
export const experimentsFile = 'experiments.jsonl';

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

/** Checks of each field. */
const checks: Readonly<Record<keyof Experiment, (value: unknown) => boolean>> = {
  id: (value) => isText(value) && /^[a-z0-9-]+$/.test(value as string),
  date: (value) => isText(value) && /^\d{4}-\d\d-\d\d$/.test(value as string),
  machine: isText,
  adapter: isText,
  command: isTextOrNull,
  n: (value) => Array.isArray(value) && value.every((each) => Number.isInteger(each) && (each as number) > 0),
  reps: (value) => value === null || isNumber(value),
  what: isText,
  before: isTextOrNull,
  after: isTextOrNull,
  ratio: (value) => value === null || (isNumber(value) && (value as number) > 0),
  interval: (value) =>
    value === null ||
    (Array.isArray(value) &&
      value.length === 2 &&
      value.every(isNumber) &&
      (value[0] as number) <= (value[1] as number)),
  kept: (value) => value === null || typeof value === 'boolean',
  why: isText,
  supersededBy: (value) => value === undefined || isText(value),
};

/** @throws Error that lists the lines that are no experiments */
export const readExperiments = (rows: readonly unknown[] = rowsIn(experimentsFile)): readonly Experiment[] => {
  const ids = new Set(rows.map((row) => (row as Experiment).id));
  const problems = rows.flatMap((row, i) => {
    const fields = row as Readonly<Record<string, unknown>>;
    const wrong = [
      ...Object.entries(checks).flatMap(([name, isRight]) => (isRight(fields[name]) ? [] : [name])),
      ...Object.keys(fields).filter((name) => !Object.hasOwn(checks, name)),
      ...(fields.supersededBy !== undefined && !ids.has(fields.supersededBy as string) ? ['supersededBy'] : []),
    ];
    return wrong.length === 0 ? [] : [`line ${i + 1}, ${String(fields.id)}: ${wrong.join(', ')}`];
  });
  if (ids.size < rows.length) problems.push('an id is given twice');
  if (problems.length > 0) throw new Error(`${experimentsFile}:\n${problems.join('\n')}`);
  return rows as readonly Experiment[];
};
