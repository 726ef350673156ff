/**
 * Knobs of a run: how their texts are read, lists such as `10,12,14` or `10..18` included, and what
 * help and form say about them.
 */
import {
  type CaseAddress,
  defaultCurve,
  defaultEncoding,
  defaultGroup,
  type EncodedGroup,
  parseInteger,
} from '../cases/address.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { type CurveGroup, curveNames, pairNames } from '../oracle/curves.js';
import type { Placement } from './rows.js';
import { type Setting, settingKnobs } from './settings.js';

export interface KnobText {
  readonly label: string;
  readonly help: string;
  /** Valid values, such as `1 to 1000`; empty if the help describes them. */
  readonly values: string;
  /** Value if the knob is not given; empty if a mode or another knob decides. */
  readonly unset: string;
}

interface Knob<Value = unknown> extends KnobText {
  /**
   * @param text null if the knob is not given
   * @param name name of the knob, for errors
   * @throws RangeError that begins with the name
   */
  read(text: string | null, name: string, of: CurveGroup): Value;
}

export type KnobTable = Readonly<Record<string, Knob>>;

/** The values of the knobs of a table. */
export type Values<Table extends KnobTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Knob<infer Value> ? Value : never;
};

type Texts = readonly [label: string, help: string];
type Range = readonly [least: number, most: number];

/** Parses one of several words. @throws RangeError that begins with the name */
function oneOf<const Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw new RangeError(`${name}: "${text}" is not ${words.join(' or ')}`);
  return word;
}

const listedWords = <const Word extends string>(name: string, text: string, words: readonly Word[]): Word[] => [
  ...new Set(text.split(',').map((word) => oneOf(name, word.trim(), words))),
];

/** A knob with a text that is parsed, or a value if it is not given. */
export const knob = <Value, Unset = Value>(
  [label, help]: Texts,
  values: string,
  unset: string,
  parse: (text: string, name: string, of: CurveGroup) => Value,
  fallback: (of: CurveGroup) => Unset,
): Knob<Value | Unset> => ({
  ...{ label, help, values, unset },
  read: (text, name, of) => (text === null ? fallback(of) : parse(text, name, of)),
});

/** @param unset the value, or a description where the run decides */
export const integerKnob = <const Unset extends number | string>(
  texts: Texts,
  [least, most]: Range,
  unset: Unset,
): Knob<number | (Unset extends number ? never : undefined)> =>
  knob(
    texts,
    `${least} to ${most}`,
    String(unset),
    (text, name) => parseInteger(name, text, least, most),
    () => (typeof unset === 'number' ? unset : undefined),
  ) as Knob<number | (Unset extends number ? never : undefined)>;

export const integersKnob = (texts: Texts, [least, most]: Range, unset: readonly number[]): Knob<readonly number[]> =>
  knob(
    texts,
    `${least} to ${most}, or a list`,
    unset.join(','),
    (text, name) => parseIntegers(name, text, least, most),
    () => unset,
  );

export const wordKnob = <const Word extends string>(texts: Texts, words: readonly Word[], unset: Word): Knob<Word> =>
  knob(
    texts,
    words.join(', '),
    unset,
    (text, name) => oneOf(name, text, words),
    () => unset,
  );

/** A knob with a list of words; null if it is not given. */
export const wordsKnob = <const Word extends string>(
  texts: Texts,
  words: readonly Word[],
  unset: string,
): Knob<readonly Word[] | null> =>
  knob(
    texts,
    words.join(', '),
    unset,
    (text, name) => listedWords(name, text, words),
    () => null,
  );

const NO_PEERS = 'none';

/** A knob with names of other libraries; null leaves the choice to the mode. */
export const peersKnob = <const Name extends string>(names: readonly Name[], unset: string) =>
  knob(
    ['Compare with', 'Other libraries to time in the same run, in turns.'],
    [...names, NO_PEERS].join(', '),
    unset,
    (text, name) => listedWords(name, text, [...names, NO_PEERS]).filter((peer) => peer !== NO_PEERS),
    () => null,
  );

/** Longest list. A longer one is a mistake, and would take days. */
const MOST_ITEMS = 64;

/** Returns whether the text is a list rather than one value, valid or not. */
export const isList = (text: string): boolean => /,|\.\./.test(text);

/**
 * Returns the distinct items of a list as texts, with ranges of integers expanded.
 *
 * @throws RangeError that names the knob
 */
export function listItems(name: string, text: string): string[] {
  const items = text.split(',').flatMap((each) => {
    const item = each.trim();
    const range = /^(\d{1,9})\.\.(\d{1,9})$/.exec(item);
    if (range === null) return [item];
    const [first, last] = [Number(range[1]), Number(range[2])];
    if (first > last) throw new RangeError(`${name}: "${item}" runs backwards`);
    if (last - first >= MOST_ITEMS) throw new RangeError(`${name}: "${item}" is more than ${MOST_ITEMS} values`);
    return Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
  });
  const distinct = [...new Set(items)];
  if (distinct.length > MOST_ITEMS) throw new RangeError(`${name}: ${distinct.length} values, at most ${MOST_ITEMS}`);
  return distinct;
}

/** @throws RangeError that names the knob */
export const parseIntegers = (name: string, text: string, least: number, most: number): number[] =>
  listItems(name, text).map((item) => parseInteger(name, item, least, most));

/* Problems of a query. */

/** Something invalid in a query. The text begins with the name of the knob. */
export interface Problem {
  readonly text: string;
  /** The knob whose field is marked; for a mistyped name the nearest one. */
  readonly knob: string;
  /** A sweep that accepts the value; null if there is none. */
  readonly instead: URLSearchParams | null;
}

/**
 * Returns the knob that a message begins with: `logn` for `logn: "x"`, and `case` for `case "x"`.
 */
const nameAtStart = (text: string): string => /^[\w.]*/.exec(text)?.[0] ?? '';

/** Collects problems instead of stopping at the first. */
export class Problems {
  readonly all: Problem[] = [];

  add(text: string, { instead = null, knob = nameAtStart(text) }: Partial<Problem> = {}): void {
    if (!this.all.some((problem) => problem.text === text)) this.all.push({ text, instead, knob });
  }

  /** Returns the result of `read`, or `otherwise` if it throws a RangeError. */
  attempt<T>(read: () => T, otherwise: T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.add(error.message);
      return otherwise;
    }
  }
}

export const problemText = ({ text, instead }: Problem): string =>
  instead === null ? text : `${text}: ?${queryText(instead)}`;

/** Formats a query for people, with commas unescaped. */
export const queryText = (query: URLSearchParams): string =>
  query.toString().replaceAll('%2C', ',').replaceAll('%3D', '=');

/** A case, and where the walker keeps its prefix products; undefined leaves that to the engine. */
interface PlacedCase {
  readonly address: CaseAddress;
  readonly placement: Placement | undefined;
}

/**
 * Knobs of a run that modes share. Curve, group and encoding hold for timed MSMs, and for cases
 * that name none.
 */
export interface Knobs extends EncodedGroup {
  /** Null starts nothing; all else is then read for suggested mode. */
  readonly mode: string | null;
  /** True if the run opens a GPU: not if all settings compute on the CPU. */
  readonly opensGpu: boolean;
  /** Cases to run. A case with two placements is listed twice in a row. */
  readonly cases: readonly PlacedCase[];
  readonly reps: number;
  readonly seed: number;
  /** A and B of a comparison, all settings of a sweep, one setting otherwise. */
  readonly settings: readonly Setting[];
}

/** Knobs with those that a mode has of its own. */
export type AnyKnobs = Knobs & Values<KnobTable>;

/*
 * Knobs that several modes share. Each mode says which it uses; knobs of the engine are in
 * settings.ts.
 */

const text = (label: string, help: string, values = '', unset = ''): KnobText => ({ label, help, values, unset });

/** Common knobs, in the order of the form. */
export const commonKnobs = {
  autorun: text('What to run', 'Each mode answers a question. A URL without a mode starts nothing.'),
  curve: text('Curve', 'Curve of the points.', curveNames.join(', '), defaultCurve),
  group: text(
    'Group',
    `Group of the curve: g1, or g2, which ${pairNames.join(', ')} have. With a prefix (a.group), the group of that side of a comparison.`,
    'g1, g2',
    defaultGroup,
  ),
  encoding: text(
    'Point encoding',
    'Encoding of the loaded points: le, or another that the library supports for them. The cross-check also asks for the sum in it.',
    '',
    defaultEncoding,
  ),
  logn: text('Sizes, log₂ n', 'Sizes as powers of two: 10 or 10,12,14 or 10..18.', '0 to 22, or a list'),
  n: text('Other sizes', 'Sizes that are not powers of two: 1000 or 1000,4097.', '0 to 2^22, or a list', 'none'),
  points: text('Points', 'Distribution of the points.', Object.keys(pointDistributions).join(', '), 'distinct'),
  scalars: text('Scalars', 'Distribution of the scalars.', Object.keys(scalarDistributions).join(', '), 'random'),
  case: text(
    'Cases',
    'A case, a filter such as points=*,scalars=random, or a set such as core. May be repeated in the URL.',
    '',
    'the points and scalars above',
  ),
  reps: text('Repetitions', 'Timed repetitions, runs of each case, or passes.', '1 to 1000'),
  seed: text('Seed', 'Seed of all points and scalars.', '', '1'),
} as const satisfies Readonly<Record<string, KnobText>>;

export type CommonKnob = keyof typeof commonKnobs;

/** Knobs of modes that compute the MSMs that the knobs describe. */
export const ofMsm = {
  uses: ['curve', 'group', 'encoding', 'logn', 'n', 'points', 'scalars', 'reps', 'seed'],
  engine: settingKnobs,
} as const satisfies { uses: readonly CommonKnob[]; engine: readonly string[] };
