/**
 * Tables of options, and their reader: every public function reads its options by a table, so that
 * unknown names and wrong values are refused by one set of rules, before any work.
 */
import { badArgument, kindOf, show } from './errors.js';

/** Returns a name in quotes, or a number as it is. */
const spelt = (values: readonly unknown[]): string => values.map(show).join(' or ');

const isNumber = (value: unknown, [least, most]: readonly unknown[]): value is number =>
  typeof value === 'number' && value >= (least as number) && value <= (most as number);

/** A kind of values: a test, and what an error says that a value must be. */
interface Kind {
  is(value: unknown, range: readonly unknown[]): boolean;
  says(range: readonly unknown[]): string;
}

const interval = ([least, most]: readonly unknown[]): string =>
  `from ${least}${most === Number.POSITIVE_INFINITY ? '' : ` to ${most}`}`;

/** Kinds of values. `range` is the least and the greatest number, or all choices. */
const kinds = {
  flag: { is: (value) => typeof value === 'boolean', says: () => 'true or false' },
  integer: {
    is: (value, range) => Number.isInteger(value) && isNumber(value, range),
    says: (range) => `an integer ${interval(range)}`,
  },
  number: { is: isNumber, says: (range) => `a number ${interval(range)}` },
  bigint: { is: (value) => typeof value === 'bigint', says: () => 'a bigint' },
  text: { is: (value) => typeof value === 'string', says: () => 'a string' },
  choice: { is: (value, range) => range.includes(value), says: spelt },
  /** A probability; true is 1. */
  share: {
    is: (value) => typeof value === 'boolean' || isNumber(value, [0, 1]),
    says: () => 'true, false or a number from 0 to 1',
  },
  function: { is: (value) => typeof value === 'function', says: () => 'a function' },
  signal: {
    is: (value) => typeof (value as Partial<AbortSignal> | null)?.aborted === 'boolean',
    says: () => 'an AbortSignal',
  },
  /** Checked where it is used. */
  any: { is: () => true, says: () => '' },
  store: {
    is: (value) => {
      const { get, set } = (value ?? {}) as { readonly get?: unknown; readonly set?: unknown };
      return typeof get === 'function' && typeof set === 'function';
    },
    says: () => '{ get, set }',
  },
  /** Keys that are kept between visits, and read through it. */
  cache: {
    is: (value) => typeof (value as { readonly through?: unknown } | null)?.through === 'function',
    says: () => 'the result of opfsCache or folderCache',
  },
  /** Options with a table of their own. */
  group: { is: (value) => typeof value === 'object' && value !== null, says: () => 'an object' },
} as const satisfies Record<string, Kind>;

/** Kinds that an option of a type may have. */
type KindOf<Value> =
  | 'any'
  | (boolean extends Value ? 'flag' | 'share' : never)
  | (Value extends number ? 'integer' | 'number' : never)
  | (Value extends bigint ? 'bigint' : never)
  | (Value extends string ? 'choice' | 'text' : never)
  | (Value extends (...given: never[]) => unknown ? 'function' : never)
  | (Value extends AbortSignal ? 'signal' : never)
  | (Value extends object ? 'group' | 'store' | 'cache' : never);

/** A row of any table. */
export interface AnyRow {
  readonly kind: keyof typeof kinds;
  /** Least and greatest number, or all choices. */
  readonly range?: readonly unknown[];
  /** The value where the option is left out. */
  readonly default?: unknown;
  /** Whether the option must not be left out. */
  readonly isRequired?: boolean;
  /** Whether null is a value. */
  readonly isNullable?: boolean;
  /** The rule in errors, in place of the text of its kind. */
  readonly says?: string;
  /** The table of a group. */
  readonly table?: AnyTable;
}

/** Any table. */
export interface AnyTable {
  readonly of: string;
  readonly rows: Readonly<Record<string, AnyRow>>;
}

/** One option. */
export interface OptionRow<Value> extends AnyRow {
  readonly kind: KindOf<Value>;
  readonly default?: Value;
}

/** The options of a function. A table that lacks an option, or has one too many, does not compile. */
export interface OptionTable<Options extends object> {
  /** The function, or the group, as errors name it. */
  readonly of: string;
  readonly rows: { readonly [Name in keyof Options]-?: OptionRow<Exclude<Options[Name], undefined>> };
}

/** An option as it is read. */
type ReadValue<Value, Row> = Row extends { readonly kind: 'share' }
  ? number | (Row extends { readonly default: unknown } ? never : undefined)
  : Row extends { readonly kind: 'group'; readonly table: { readonly rows: infer Rows } }
    ?
        | ReadOptions<NonNullable<Value>, Rows>
        | (Row extends { readonly default: unknown } ? never : Extract<Value, undefined>)
    : Row extends { readonly default: unknown }
      ? Exclude<Value, undefined>
      : Value;

/** Options with their defaults. */
export type ReadOptions<Options, Rows> = {
  readonly [Name in keyof Options & keyof Rows]-?: ReadValue<
    Options[Name] | (Record<never, never> extends Pick<Options, Name> ? undefined : never),
    Rows[Name]
  >;
};

/** How errors name an argument and the options in it. */
export interface OptionPlace {
  readonly argument: string;
  /** Prefix of the names of options. */
  readonly path: string;
}

const usual: OptionPlace = { argument: 'options', path: 'options.' };

/** Place of options that errors name without the argument. */
export const bare: OptionPlace = { argument: 'options', path: '' };

/**
 * Returns the names in an object of a caller, and in its class. Leaves out `Object.prototype`, of
 * this realm or of another: a polluted prototype would set an option for every call.
 */
const namesIn = (given: object): ReadonlySet<string> => {
  const names = new Set<string>();
  for (
    let holder: object | null = given;
    holder !== null && !Object.hasOwn(holder, 'hasOwnProperty');
    holder = Object.getPrototypeOf(holder)
  ) {
    for (const name of Object.getOwnPropertyNames(holder)) if (name !== 'constructor') names.add(name);
  }
  return names;
};

/**
 * Returns the number of letters to insert, leave out, replace, or swap with the next one, to make
 * one word of the other (optimal string alignment).
 */
const editDistance = (one: string, other: string): number => {
  let [before, above]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        (row[j - 1] as number) + 1,
        (above[j] as number) + 1,
        (above[j - 1] as number) + Number(!isSame),
        isSwapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, above] = [above, row];
  }
  return above[other.length] as number;
};

/** Letters that names near each other have in common at least, at the beginning or as a whole. */
const LEAST_PART = 4;

/** Returns the known name that a caller may have meant; null if none is near. */
export const nearestName = (given: string, names: readonly string[]): string | null => {
  const word = given.toLowerCase();
  let [nearest, least]: [string | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const name of names) {
    const lower = name.toLowerCase();
    const isPart =
      Math.min(word.length, lower.length) >= LEAST_PART &&
      (lower.includes(word) || word.includes(lower) || lower.startsWith(word.slice(0, LEAST_PART)));
    // a letter in three may be wrong
    const most = Math.floor(Math.max(word.length, lower.length) / 3);
    const distance = editDistance(word, lower);
    if ((isPart || distance <= most) && distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
};

const unknownOption = (path: string, name: string, of: string, names: readonly string[]): Error => {
  const nearest = nearestName(name, names);
  const advice =
    nearest === null ? `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}` : `did you mean ${nearest}?`;
  return badArgument(`${path}${name} is not an option of ${of}; ${advice}`);
};

/** Returns the rule of an option's values, for errors and pages; empty where any value passes. */
export const ruleOf = ({ kind, range = [], says, isNullable }: AnyRow): string =>
  `${says ?? kinds[kind].says(range)}${isNullable ? ' or null' : ''}`;

const readValue = (row: AnyRow, value: unknown, name: string, holder: object): unknown => {
  const { kind, range = [], isNullable, table } = row;
  if (value === null && isNullable) return null;
  const { is }: Kind = kinds[kind];
  if (!is(value, range)) throw badArgument(`${name} must be ${ruleOf(row)}, got ${show(value)}`);
  if (kind === 'share') return Number(value);
  // it may be a method of the caller's object
  if (kind === 'function') return (...args: unknown[]) => Reflect.apply(value as () => unknown, holder, args);
  return table === undefined ? value : readRows(table, value as object, { argument: name, path: `${name}.` });
};

const readRows = ({ of, rows }: AnyTable, given: object, { argument, path }: OptionPlace): object => {
  if (typeof given !== 'object' || given === null) {
    throw badArgument(`${argument} must be an object, got ${kindOf(given)}`);
  }
  const names = namesIn(given);
  for (const name of names) {
    if (!Object.hasOwn(rows, name)) throw unknownOption(path || `${argument}.`, name, of, Object.keys(rows));
  }
  const read = Object.create(null) as Record<string, unknown>;
  for (const [name, row] of Object.entries(rows)) {
    const value = names.has(name) ? (given as Record<string, unknown>)[name] : undefined;
    const used = value === undefined ? row.default : value;
    read[name] = used === undefined && !row.isRequired ? undefined : readValue(row, used, `${path}${name}`, given);
  }
  return read;
};

/**
 * Copies the options of a caller: checked, with defaults, and each read once, so that later changes
 * of the object have no effect. They may be members of the object or of its class.
 *
 * @returns an object without a prototype
 * @throws MsmError `bad-argument` naming an option that the function does not have, with the nearest
 *   one that it has, or an option whose value is wrong
 */
export const readOptions = <const Table extends OptionTable<Options>, Options extends object>(
  table: Table & OptionTable<Options>,
  given: Options,
  place = usual,
): ReadOptions<Options, Table['rows']> =>
  readRows(table as unknown as AnyTable, given, place) as ReadOptions<Options, Table['rows']>;

/** Rows without their defaults. */
type RowsToPass<Rows, Name extends keyof Rows> = { readonly [Each in Name]: Omit<Rows[Each], 'default'> };

/**
 * Returns rows of a table for the table of a function that passes these options on. They have no
 * defaults, so that options that are left out stay so.
 */
export const pickRows = <Rows extends Readonly<Record<string, object>>, Name extends keyof Rows & string>(
  rows: Rows,
  names: readonly Name[],
): RowsToPass<Rows, Name> =>
  Object.fromEntries(names.map((name) => [name, { ...rows[name], default: undefined }])) as unknown as RowsToPass<
    Rows,
    Name
  >;

/** Returns the options that are set. */
export const setOptions = <Options extends object>(read: Options): Partial<Options> =>
  Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as Partial<Options>;
