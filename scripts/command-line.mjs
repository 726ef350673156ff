/**
 * Command lines of all commands. A table of options defines how arguments are read and what the
 * help prints; commander reads them. A line at the bottom of the terminal shows progress.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommanderError, Command as Reader, Option as ReaderOption } from 'commander';
import {
  chooseAdapter,
  isPreparedFor,
  NoAdapterError,
  parseAdapterRequest,
  runInPlace,
} from './adapter/choose-adapter.mjs';

/** A mistake on the command line; the message names the option. */
export class UsageError extends Error {}

/** A failure with an exit code of its own, and what to do about it. */
export class CommandError extends Error {
  /** @param {number} code @param {string} message @param {string} [advice] */
  constructor(code, message, advice = '') {
    super(message);
    this.code = code;
    this.advice = advice;
  }
}

/**
 * @template T the type of its value
 * @typedef {object} Option
 * @property {string} about its help; lines are joined and wrapped
 * @property {string | null} shows an example of its value; null for an option without a value
 * @property {(texts: string[], name: string) => T} read converts all given texts, in order;
 *   throws UsageError
 */

/**
 * Converts the text of an option to its value.
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
 * @property {string} usage the usage line, and the help before the options
 * @property {Options} options
 * @property {string} [notes] the help after the options
 */

/**
 * Defines an option with a value. If it is given several times, the last one counts.
 *
 * @template T
 * @template [Default=undefined]
 * @param {string} shows
 * @param {string} about
 * @param {Parse<T>} parse
 * @param {Default} [otherwise] the value if the option is not given
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

/** Defines an option without a value. @type {(about: string) => Option<boolean>} */
export const flag = (about) => ({ about, shows: null, read: (texts) => texts.length > 0 });

/**
 * Defines an option that may be given several times; its value is the list of all texts.
 *
 * @type {(shows: string, about: string) => Option<string[]>}
 */
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

/** Parses an integer, also in the form 2^k. @type {typeof integer} */
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

/**
 * Checks the path of a file to write. A missing folder is found before a long run, not after it.
 *
 * @type {Parse<string>}
 */
export const outputFile = (path, name) => {
  if (!existsSync(dirname(path))) throw new UsageError(`--${name}: there is no folder ${dirname(path)}`);
  return path;
};

/** Splits a text at its first =. @type {Parse<[string, string]>} */
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

/** The option --adapter of commands that compute in this process. */
export const adapterOption = valued(
  'auto',
  'auto, software, hardware or system (the driver of this environment)',
  oneOf('auto', 'software', 'hardware', 'system'),
);

/**
 * Makes the commander of a command. All texts of an option are collected, and read by the table.
 *
 * @param {Command<any>} command
 */
function readerOf({ usage, options, notes = '' }) {
  const reader = new Reader()
    .usage(usage)
    .allowExcessArguments()
    .exitOverride()
    .helpOption('--help', 'this text')
    .configureOutput({ writeErr() {} })
    .configureHelp({
      helpWidth: 110,
      optionTerm: ({ flags }) => flags.replace(/[<>]/g, ''),
      formatHelp: (command, helper) => {
        const lines = helper
          .visibleOptions(command)
          .map((option) => helper.formatItem(helper.optionTerm(option), TERM_COLUMNS, option.description, helper));
        return [usage, lines.join('\n'), notes].filter((part) => part !== '').join('\n\n');
      },
    });
  for (const [name, { shows, about }] of Object.entries(options)) {
    const [value, isOptional] = [shows ?? '', shows?.startsWith('[')];
    const flags = `--${name}${shows === null ? '' : isOptional ? ` ${value}` : ` <${value}>`}`;
    const option = new ReaderOption(flags, about.replace(/\s*\n\s*/g, ' '));
    const collect = (/** @type {string} */ text, /** @type {string[]} */ before = []) => [...before, text];
    reader.addOption(shows === null ? option : option.argParser(collect).preset(''));
  }
  return reader;
}

/** Columns of the options in the help. */
const TERM_COLUMNS = 20;

/** Formats the whole help of a command. @param {Command<any>} command */
export const helpText = (command) => readerOf(command).helpInformation();

/**
 * Reads the arguments of a command.
 *
 * @template {Record<string, Option<any>>} Options
 * @param {Options} options
 * @param {readonly string[]} args the arguments without those of Node
 * @returns {{ values: Values<Options>, words: string[] }} `words` belong to no option
 * @throws UsageError
 */
export function readArguments(options, args) {
  const reader = readerOf({ usage: '', options });
  try {
    reader.parse([...args], { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError ? new UsageError(error.message.replace(/^error: /, '')) : error;
  }
  const read = Object.entries(options).map(([name, option]) => {
    const attribute = new ReaderOption(`--${name}`).attributeName();
    return [name, option.read([reader.getOptionValue(attribute) ?? []].flat().map(String), name)];
  });
  return { values: Object.fromEntries(read), words: reader.args };
}

/** Returns whether the arguments ask for help. @param {readonly string[]} args */
export const asksForHelp = (args) => args.some((arg) => arg === '--help' || arg === '-h');

/**
 * Reads the arguments of a command that takes options only.
 *
 * @template {Record<string, Option<any>>} Options
 * @param {Command<Options>} command
 * @param {readonly string[]} [args] the arguments without those of Node
 * @returns {Values<Options>}
 * @throws UsageError
 */
export function parseCommand({ options }, args = process.argv.slice(2)) {
  const { values, words } = readArguments(options, args);
  if (words.length > 0) throw new UsageError(`'${words[0]}' belongs to no option`);
  return values;
}

/**
 * Shows a line of progress in place of the line before. Without a terminal it prints nothing.
 *
 * @param {string} text the line; an empty text removes it
 */
export function progress(text) {
  const { isTTY, columns = 80 } = process.stderr;
  if (isTTY) process.stderr.write(`\r\x1b[2K${text.slice(0, columns - 1)}`);
}

/**
 * Prints a permanent line above the line of `progress`.
 *
 * @param {string} text
 */
export function say(text) {
  progress('');
  console.log(text);
}

/**
 * Turns a RangeError into a UsageError. The parsers of knobs and cases throw RangeErrors that name
 * the knob.
 *
 * @template T
 * @param {() => T} parse
 * @param {(message: string) => string} [worded] rewords the message for a command line
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

/**
 * Runs a command and sets the exit code. It answers --help before it does anything else.
 *
 * @param {Command<any>} command
 * @param {() => Promise<void>} work
 * @param {number} [badUsage] the exit code of a usage error
 */
export async function runCommand(command, work, badUsage = 2) {
  try {
    if (asksForHelp(process.argv.slice(2))) console.log(helpText(command));
    else await work();
  } catch (error) {
    progress('');
    process.exitCode = 1;
    if (error instanceof UsageError) {
      const usage = /^usage:.*$/m.exec(command.usage)?.[0] ?? command.usage.split('\n')[0];
      // the whole help would push the error off the screen
      console.error(`${error.message}\n\n${usage}\n--help lists the options`);
      process.exitCode = badUsage;
    } else if (error instanceof CommandError) {
      console.error([error.message, error.advice].filter(Boolean).join('\n'));
      process.exitCode = error.code;
    } else console.error(error instanceof NoAdapterError ? error.message : error);
  }
}

/**
 * A command of several, such as `bench run`.
 *
 * @typedef {object} Subcommand
 * @property {string} about its line in the help
 * @property {(args: string[]) => Promise<void>} run
 */

/**
 * Returns a subcommand whose module has a command, and the function that carries it out.
 *
 * @param {string} about
 * @param {() => Promise<{ command: Command<any>, run: (options: any) => Promise<void> }>} load
 * @returns {Subcommand}
 */
export const fromModule = (about, load) => ({
  about,
  async run(args) {
    const { command, run } = await load();
    await runCommand(command, () => run(parseCommand(command, args)));
  },
});

/**
 * Runs the subcommand that the arguments name; without one it prints the help.
 *
 * @param {string} usage the usage line, and the help before the commands
 * @param {Readonly<Record<string, Subcommand>>} commands
 * @param {Readonly<Record<string, string>>} [aliases] other names of commands
 */
export async function runSubcommand(usage, commands, aliases = {}) {
  const [name, ...args] = process.argv.slice(2);
  const lines = Object.entries(commands).map(([each, { about }]) => `  ${each.padEnd(17)} ${about}`);
  if (name === undefined || asksForHelp([name])) {
    console.log([usage, `Commands:\n${lines.join('\n')}`, 'COMMAND --help lists its options.'].join('\n\n'));
    return;
  }
  const reader = new Reader()
    .exitOverride()
    .configureOutput({ writeErr() {} })
    .helpCommand(false);
  for (const each of [...Object.keys(commands), ...Object.keys(aliases)])
    reader
      .command(each)
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {});
  try {
    reader.parse([name], { from: 'user' });
  } catch (error) {
    const { message } = /** @type {CommanderError} */ (error);
    console.error(`${message.replace(/^error: /, '')}\n\nThe commands are ${Object.keys(commands).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  await commands[aliases[name] ?? name]?.run(Object.hasOwn(aliases, name) ? [name, ...args] : args);
}

/**
 * Runs work in a process that is prepared for the requested adapter: this one, or a child.
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
