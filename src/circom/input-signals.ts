/** Inputs of a circuit as their owner writes them, and as a witness program takes them. */
import { badArgument, kindOf } from '../errors.js';
import { mod } from '../field/modulus.js';

/** Values of an input signal. */
export interface SignalValues {
  /** Name of the signal, of a member of a bus with the path to it: `key`, `points[1].x`. */
  readonly name: string;
  /** Number of values. */
  readonly count: number;
  /** Words of 32 bits, least significant first, `WORDS` for each value, which is below the prime. */
  readonly words: Uint32Array<ArrayBuffer>;
}

/** Words of 32 bits of a value. */
export const WORDS = 8;

/** The deepest nesting of arrays. Deeper ones are circles. */
const MOST_DEPTH = 64;

/**
 * Converts the inputs of a circuit. Arrays are read in the order of their elements, however they
 * are nested. An object in the place of a value is a bus, whose members have names of their own.
 *
 * @param prime of the program
 * @throws MsmError `bad-argument` naming the signal and the index of the value, never the value
 */
export const readSignals = (input: unknown, prime: bigint): SignalValues[] => {
  if (!isRecord(input)) {
    const remedy = typeof input === 'string' ? '; read the text with JSON.parse' : '';
    throw badArgument(`input must be an object with the values of each input signal, got ${kindOf(input)}${remedy}`);
  }
  const signals = new Map<string, SignalValues>();
  for (const [name, value] of Object.entries(input)) {
    for (const [path, leaves] of leavesOf(name, value, 0)) {
      if (signals.has(path)) throw badArgument(`input.${path} is given twice`);
      signals.set(path, convert(path, leaves, prime));
    }
  }
  return [...signals.values()];
};

/** Overwrites values that nothing uses any more, unless a worker has them. */
export const eraseSignals = (signals: readonly SignalValues[]): void => {
  // a buffer that was transferred has no bytes, and `fill` throws
  for (const { words } of signals) if (words.length > 0) words.fill(0);
};

type Leaves = readonly unknown[];

/** Returns whether a value has members by name: an object that is no list. */
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !isList(value);

/** Returns whether a value is an array or a typed array. */
const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

/** Yields the names of signals in a value, and their values in one list each. */
function* leavesOf(name: string, value: unknown, depth: number): Generator<readonly [name: string, values: Leaves]> {
  if (depth > MOST_DEPTH) throw badArgument(`input.${name} is nested more than ${MOST_DEPTH} deep; is it a circle?`);
  if (isRecord(value)) {
    for (const [member, each] of Object.entries(value)) yield* leavesOf(`${name}.${member}`, each, depth + 1);
    return;
  }
  if (Array.isArray(value) && value.some(hasRecord)) {
    for (let i = 0; i < value.length; i++) yield* leavesOf(`${name}[${i}]`, value[i], depth + 1);
    return;
  }
  const leaves: unknown[] = [];
  flatten(name, value, leaves, 0);
  yield [name, leaves];
}

/** Returns whether a bus is in a value, or in its first elements all the way down. */
const hasRecord = (value: unknown): boolean => {
  let first = value;
  for (let depth = 0; isList(first) && first.length > 0 && depth <= MOST_DEPTH; depth++) first = first[0];
  return isRecord(first);
};

const flatten = (name: string, value: unknown, into: unknown[], depth: number): void => {
  if (!isList(value)) {
    into.push(value);
    return;
  }
  if (depth > MOST_DEPTH) throw badArgument(`input.${name} is nested more than ${MOST_DEPTH} deep; is it a circle?`);
  // by index, because `forEach` skips holes
  for (let i = 0; i < value.length; i++) flatten(name, value[i], into, depth + 1);
};

const convert = (name: string, values: Leaves, prime: bigint): SignalValues => {
  const words = new Uint32Array(values.length * WORDS);
  const view = new DataView(words.buffer);
  values.forEach((value, i) => {
    // counters and bits, most of what circuits take, need no bigint
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31 && value < prime) {
      words[i * WORDS] = value;
      return;
    }
    let rest = mod(numberOf(name, i, value), prime);
    for (let at = 4 * WORDS * i; rest !== 0n; at += 8, rest >>= 64n) view.setBigUint64(at, rest, true);
  });
  return { name, count: values.length, words };
};

/**
 * Reads a value: a bigint, an integer that a double holds exactly, a boolean, or a string as
 * `BigInt` reads it.
 *
 * @throws MsmError `bad-argument` naming the signal and the index
 */
const numberOf = (name: string, i: number, value: unknown): bigint => {
  const place = `input.${name}: value ${i}`;
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'boolean':
      return BigInt(value);
    case 'number':
      if (Number.isSafeInteger(value)) return BigInt(value);
      throw badArgument(
        Number.isInteger(value)
          ? `${place} is a number beyond 2^53 − 1, which a double does not hold exactly; pass a bigint or a string`
          : `${place} must be an integer, got a number that is none`,
      );
    case 'string':
      return parse(place, value);
    default:
      throw badArgument(`${place} must be a bigint, an integer, a boolean or a string of digits, got ${kindOf(value)}`);
  }
};

const parse = (place: string, text: string): bigint => {
  try {
    // BigInt reads blanks as 0
    if (text.trim() !== '') return BigInt(text);
  } catch {
    // the error below says it without the text, which may be secret
  }
  throw badArgument(`${place} must be a string of decimal digits, or of 0x and hexadecimal ones`);
};
