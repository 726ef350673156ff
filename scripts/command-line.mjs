/**
 * What all commands have in common: a table of options says how they are read and what the help says of them; a line at the foot of the
 * terminal says what goes on. It needs nothing but Node: it also runs where only the build is.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import {
  chooseAdapter,
  isPreparedFor,
  NoAdapterError,
  parseAdapterRequest,
  runInPlace,
} from './adapter/choose-adapter.mjs';

/** A mistake on the command line; the message names the option. */
export class UsageError extends Error {}

/**
 * @template T what it comes to
 * @typedef {object} Option
 * @property {string} about for the help; lines after the first are set below it
 * @property {string | null} shows what its value looks like; null for one that has none
 * @property {(texts: string[], name: string) => T} read takes whatever was given, in order; throws UsageError
 */

/**
 * Takes the text of an option for what it says.
 *
 * @template T
 * @typedef {(text: string, name: string) => T} Parse throws UsageError
 */

/**
 * @template {Record<string, Option<any>>} Options
 * @typedef {{ [Name in keyof Options]: Options[Name] extends Option<infer T> ? T : never }} Values
 */

/**
 * @template {Record<string, Option<any>>} Options
 * @typedef {object} Command
 * @property {string} usage the line, and what is said before the options
 * @property {Options} options
 * @property {string} [notes] what is said after them
 */

/**
 * An option with a value, of which the last counts.
 *
 * @template T
 * @template [Default=undefined]
 * @param {string} shows
 * @param {string} about
 * @param {Parse<T>} parse
 * @param {Default} [otherwise] where it is not given
 * @returns {Option<T | Default>}
 */
export const valued = (shows, about, parse, otherwise) => ({
  about,
  shows,
  read: (texts, name) => {
    const text = texts.at(-1);
    return text === undefined ? /** @type {Default} */ (otherwise) : parse(text, name);
  },
});

/** @type {(about: string) => Option<boolean>} */
export const flag = (about) => ({ about, shows: null, read: (texts) => texts.length > 0 });

/** Every one that was given. @type {(shows: string, about: string) => Option<string[]>} */
export const repeatable = (shows, about) => ({ about, shows, read: (texts) => texts });

/** @type {Parse<string>} */
export const anyText = (text) => text;

/** @type {(least: number, most: number) => Parse<number>} */
export const integer = (least, most) => (text, name) => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new UsageError(`--${name}: '${text}' is not an integer from ${least} to ${most}`);
  }
  return value;
};

/** An integer, of which 2^k is understood. @type {typeof integer} */
export const size = (least, most) => (text, name) => {
  const power = /^2\^(\d{1,2})$/.exec(text);
  return integer(least, most)(power ? String(2 ** Number(power[1])) : text, name);
};

/** @type {<T>(parse: Parse<T>) => Parse<T[]>} */
export const listOf = (parse) => (text, name) => text.split(',').map((item) => parse(item.trim(), name));

/** @type {<const Word extends string>(...words: Word[]) => Parse<Word>} */
export const oneOf =
  (...words) =>
  (text, name) => {
    const word = words.find((each) => each === text);
    if (word === undefined) throw new UsageError(`--${name}: '${text}' is none of ${words.join(', ')}`);
    return word;
  };

/** A file to write: what a long run told must not be lost for want of a folder. @type {Parse<string>} */
export const outputFile = (path, name) => {
  if (!existsSync(dirname(path))) throw new UsageError(`--${name}: there is no folder ${dirname(path)}`);
  return path;
};

/** What is before the first = and what is behind it. @type {Parse<[string, string]>} */
export const pair = (text, name) => {
  const cut = text.indexOf('=');
  if (cut <= 0) throw new UsageError(`--${name}: '${text}' is not of the form name=value`);
  return [text.slice(0, cut).trim(), text.slice(cut + 1).trim()];
};

/** @type {Parse<any>} */
export const json = (text, name) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--${name} is not JSON: ${/** @type {Error} */ (error).message}`);
  }
};

/** For commands that compute in this process. */
export const adapterOption = valued(
  'auto',
  'auto, software, hardware or system (whatever driver there is)',
  oneOf('auto', 'software', 'hardware', 'system'),
);

/** Where the help has what it says of options. */
const HELP_COLUMN = 24;

/** @param {Record<string, Option<any>>} options */
export const optionLines = (options) =>
  Object.entries({ ...options, help: flag('this text') }).map(([name, { shows, about }]) => {
    const left = `  --${name}${shows === null ? '' : ` ${shows}`}`;
    const [first, ...more] = about.split('\n').map((line) => line.trim());
    const begun = left.length < HELP_COLUMN ? left.padEnd(HELP_COLUMN) : `${left}  `;
    return [begun + first, ...more.map((line) => ' '.repeat(HELP_COLUMN) + line)].join('\n');
  });

/** @param {Command<any>} command */
export const helpText = ({ usage, options, notes }) =>
  [usage, optionLines(options).join('\n'), ...(notes === undefined ? [] : [notes])].join('\n\n');

/**
 * @template {Record<string, Option<any>>} Options
 * @param {Options} options
 * @param {readonly string[]} args without those of Node
 * @returns {{ values: Values<Options>, words: string[] }} words: what belongs to no option
 * @throws UsageError
 */
export function readArguments(options, args) {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { shows }]) => [
      name,
      /** @type {const} */ ({ type: shows === null ? 'boolean' : 'string', multiple: true }),
    ]),
  );
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options: config, allowPositionals: true });
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
  const given = /** @type {Record<string, (string | boolean)[] | undefined>} */ (parsed.values);
  const read = Object.entries(options).map(([name, option]) => {
    const texts = (given[name] ?? []).map(String);
    return [name, option.read(texts, name)];
  });
  return { values: Object.fromEntries(read), words: parsed.positionals };
}

/** @param {readonly string[]} args */
export const asksForHelp = (args) => args.some((arg) => arg === '--help' || arg === '-h');

/**
 * @template {Record<string, Option<any>>} Options
 * @param {Command<Options>} command
 * @param {readonly string[]} [args] without those of Node
 * @returns {Values<Options>}
 * @throws UsageError
 */
export function parseCommand({ options }, args = process.argv.slice(2)) {
  const { values, words } = readArguments(options, args);
  if (words.length > 0) throw new UsageError(`'${words[0]}' belongs to no option`);
  return values;
}

/**
 * One line on a terminal that the next one takes the place of; nothing where nobody watches.
 *
 * @param {string} text nothing takes the line away
 */
export function progress(text) {
  const { isTTY, columns = 80 } = process.stderr;
  if (isTTY) process.stderr.write(`\r\x1b[2K${text.slice(0, columns - 1)}`);
}

/**
 * A line that stays, above the one of `progress`.
 *
 * @param {string} text
 */
export function say(text) {
  progress('');
  console.log(text);
}

/**
 * What the page and the cases refuse, they refuse with a RangeError that names the knob.
 *
 * @template T
 * @param {() => T} parse
 * @param {(message: string) => string} [worded] in the words of a command line
 * @returns {T}
 * @throws UsageError
 */
export function refusalsAsUsage(parse, worded = (message) => message) {
  try {
    return parse();
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(worded(error.message)) : error;
  }
}

/** @typedef {{ code: number, message?: unknown, advice?: string }} Ending the exit code, what happened, and what to do about it */

/**
 * Runs a command to its exit code: --help is answered before anything else is done.
 *
 * @param {Command<any>} command
 * @param {() => Promise<void>} work
 * @param {number} [badUsage] the exit code for that
 * @param {(error: unknown) => Ending} [endingOf] what any other failure is
 */
export async function runCommand(command, work, badUsage = 2, endingOf = anyFailure) {
  try {
    if (asksForHelp(process.argv.slice(2))) console.log(helpText(command));
    else await work();
  } catch (error) {
    progress('');
    const usage = /^usage:.*$/m.exec(command.usage)?.[0] ?? command.usage.split('\n')[0];
    // all of the help would push the mistake off the screen
    if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}\n--help says what there is`);
    const { code, message, advice } = error instanceof UsageError ? { code: badUsage } : endingOf(error);
    for (const line of [message, advice]) if (line) console.error(line);
    process.exitCode = code;
  }
}

/** @type {(error: unknown) => Ending} */
const anyFailure = (error) => ({ code: 1, message: error instanceof NoAdapterError ? error.message : error });

/**
 * In a process that is prepared for the adapter that was asked for.
 *
 * @param {string | undefined} request
 * @param {() => Promise<void>} work
 */
export async function onAdapter(request, work) {
  const choice = await chooseAdapter(parseAdapterRequest(request));
  if (isPreparedFor(choice)) {
    Object.assign(process.env, choice.environment);
    await work();
  } else await runInPlace(choice, process.execPath, process.argv.slice(1));
}
