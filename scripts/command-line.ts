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
  readonly code: number;
  readonly advice: string;

  constructor(code: number, message: string, advice = '') {
    super(message);
    this.code = code;
    this.advice = advice;
  }
}

export interface Option<T> {
  /** Help; lines are joined and wrapped. */
  readonly about: string;
  /** An example of its value; null for an option without a value. */
  readonly shows: string | null;
  /** Converts all given texts, in order. @throws UsageError */
  read(texts: string[], name: string): T;
}

/** Converts the text of an option to its value. @throws UsageError, or RangeError that begins with the name */
export type Parse<T> = (text: string, name: string) => T;

// biome-ignore lint/suspicious/noExplicitAny: each option has a type of its own
export type Options = Readonly<Record<string, Option<any>>>;

export type Values<Table extends Options> = {
  [Name in keyof Table]: Table[Name] extends Option<infer T> ? T : never;
};

export interface Command<Table extends Options = Options> {
  /** Its line in the help of the command that it is one of. */
  readonly about?: string;
  /** The usage line, and the help before the options. */
  readonly usage: string;
  readonly options: Table;
  /** The help after the options. */
  readonly notes?: string;
  run(values: Values<Table>): Promise<void>;
}

/** Infers the options of a command. */
export const command = <Table extends Options>(own: Command<Table>): Command<Table> => own;

/** Defines an option with a value. If it is given several times, the last one counts. */
export function valued<T>(shows: string, about: string, parse: Parse<T>): Option<T | undefined>;
export function valued<T, const Default>(
  shows: string,
  about: string,
  parse: Parse<T>,
  unset: Default,
): Option<T | Default>;
export function valued<T>(shows: string, about: string, parse: Parse<T>, unset?: unknown): Option<unknown> {
  return { about, shows, read: (texts, name) => (texts.length === 0 ? unset : parse(texts.at(-1) ?? '', name)) };
}

/** Defines an option without a value. */
export const flag = (about: string): Option<boolean> => ({ about, shows: null, read: (texts) => texts.length > 0 });

/** Defines an option that may be given several times; its value is the list of all texts. */
export const repeatable = (shows: string, about: string): Option<string[]> => ({
  about,
  shows,
  read: (texts) => texts,
});

export const anyText: Parse<string> = (text) => text;

export const integer =
  (least: number, most: number): Parse<number> =>
  (text, name) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new UsageError(`--${name}: '${text}' is not an integer from ${least} to ${most}`);
    }
    return value;
  };

/** Parses an integer, also in the form 2^k. */
export const size: typeof integer = (least, most) => (text, name) => {
  const power = /^2\^(\d{1,2})$/.exec(text);
  return integer(least, most)(power ? String(2 ** Number(power[1])) : text, name);
};

export const listOf =
  <T>(parse: Parse<T>): Parse<T[]> =>
  (text, name) =>
    text.split(',').map((item) => parse(item.trim(), name));

export const oneOf =
  <const Word extends string>(...words: Word[]): Parse<Word> =>
  (text, name) => {
    const word = words.find((each) => each === text);
    if (word === undefined) throw new UsageError(`--${name}: '${text}' is none of ${words.join(', ')}`);
    return word;
  };

/** Checks the path of a file to write. A missing folder is found before a long run. */
export const outputFile: Parse<string> = (path, name) => {
  if (!existsSync(dirname(path))) throw new UsageError(`--${name}: there is no folder ${dirname(path)}`);
  return path;
};

export const pair: Parse<[string, string]> = (text, name) => {
  const cut = text.indexOf('=');
  if (cut <= 0) throw new UsageError(`--${name}: '${text}' is not of the form name=value`);
  return [text.slice(0, cut).trim(), text.slice(cut + 1).trim()];
};

export const json: Parse<unknown> = (text, name) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--${name} is not JSON: ${(error as Error).message}`);
  }
};

/** The option --adapter of commands that compute in this process. */
export const adapterOption = valued(
  'auto',
  'auto, software, hardware or system (the driver of this environment)',
  oneOf('auto', 'software', 'hardware', 'system'),
);

/** Columns of the options in the help. */
const TERM_COLUMNS = 20;

/** Makes the commander of a command. It collects all texts of an option, which the table reads. */
function readerOf({ usage, options, notes = '' }: Pick<Command, 'usage' | 'options' | 'notes'>): Reader {
  const reader = new Reader()
    .usage(usage)
    .allowExcessArguments()
    .exitOverride()
    .helpOption('--help', 'this text')
    .configureOutput({ writeErr() {} })
    .configureHelp({
      helpWidth: 110,
      optionTerm: ({ flags }) => flags.replace(/[<>]/g, ''),
      formatHelp: (own, helper) => {
        const lines = helper
          .visibleOptions(own)
          .map((option) => helper.formatItem(helper.optionTerm(option), TERM_COLUMNS, option.description, helper));
        return [usage, lines.join('\n'), notes].filter((part) => part !== '').join('\n\n');
      },
    });
  for (const [name, { shows, about }] of Object.entries(options)) {
    const value = shows === null ? '' : shows.startsWith('[') ? ` ${shows}` : ` <${shows}>`;
    const option = new ReaderOption(`--${name}${value}`, about.replace(/\s*\n\s*/g, ' '));
    const collect = (text: string, before: string[] = []) => [...before, text];
    reader.addOption(shows === null ? option : option.argParser(collect).preset(''));
  }
  return reader;
}

/**
 * Reads the arguments of a command.
 *
 * @param args the arguments without those of Node
 * @returns `words` belong to no option
 * @throws UsageError
 */
export function readArguments<Table extends Options>(
  options: Table,
  args: readonly string[],
): { values: Values<Table>; words: string[] } {
  const reader = readerOf({ usage: '', options });
  try {
    reader.parse([...args], { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError ? new UsageError(error.message.replace(/^error: /, '')) : error;
  }
  const read = Object.entries(options).map(([name, option]) => {
    const attribute = new ReaderOption(`--${name}`).attributeName();
    const texts = [reader.getOptionValue(attribute) ?? []].flat().map(String);
    return [
      name,
      refusalsAsUsage(
        () => option.read(texts, name),
        (message) => `--${message}`,
      ),
    ];
  });
  return { values: Object.fromEntries(read), words: reader.args };
}

/** Reads the arguments of a command that takes options only. @throws UsageError */
export function readOptions<Table extends Options>(options: Table, args: readonly string[]): Values<Table> {
  const { values, words } = readArguments(options, args);
  if (words.length > 0) throw new UsageError(`'${words[0]}' belongs to no option`);
  return values;
}

/** Returns whether the arguments ask for help. */
const asksForHelp = (args: readonly string[]): boolean => args.some((arg) => arg === '--help' || arg === '-h');

/** Shows a line of progress in place of the line before; an empty text removes it. */
export function progress(text: string): void {
  const { isTTY, columns = 80 } = process.stderr;
  if (isTTY) process.stderr.write(`\r\x1b[2K${text.slice(0, columns - 1)}`);
}

/** Prints a permanent line above the line of `progress`. */
export function say(text: string): void {
  progress('');
  console.log(text);
}

/**
 * Turns a RangeError into a UsageError. The parsers of knobs and cases throw RangeErrors that name
 * the knob.
 *
 * @param worded rewords the message for a command line
 * @throws UsageError
 */
export function refusalsAsUsage<T>(parse: () => T, worded = (message: string): string => message): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(worded(error.message)) : error;
  }
}

const args = (): string[] => process.argv.slice(2);

/**
 * Runs a command and sets the exit code. It answers --help before it does anything else.
 *
 * @param work default: runs the command with its options
 * @param badUsage exit code of a usage error
 */
export async function runCommand<Table extends Options>(
  own: Command<Table>,
  work = () => own.run(readOptions(own.options, args())),
  badUsage = 2,
): Promise<void> {
  try {
    if (asksForHelp(args())) console.log(readerOf(own).helpInformation());
    else await work();
  } catch (error) {
    progress('');
    process.exitCode = 1;
    if (error instanceof UsageError) {
      const usage = /^usage:.*$/m.exec(own.usage)?.[0] ?? own.usage.split('\n')[0];
      // the whole help would push the error off the screen
      console.error(`${error.message}\n\n${usage}\n--help lists the options`);
      process.exitCode = badUsage;
    } else if (error instanceof CommandError) {
      console.error([error.message, error.advice].filter(Boolean).join('\n'));
      process.exitCode = error.code;
    } else console.error(error instanceof NoAdapterError ? error.message : error);
  }
}

/** A command of several, such as `bench run`. */
export interface Subcommand {
  readonly about: string;
  run(args: string[]): Promise<void>;
}

export const subcommand = <Table extends Options>(own: Command<Table>): Subcommand => ({
  about: own.about ?? '',
  run: (given) => runCommand(own, () => own.run(readOptions(own.options, given))),
});

/**
 * Runs the subcommand that the arguments name; without one it prints the help.
 *
 * @param usage the usage line, and the help before the commands
 */
export async function runSubcommand(usage: string, commands: Readonly<Record<string, Subcommand>>): Promise<void> {
  const [name, ...given] = args();
  if (name === undefined || asksForHelp([name])) {
    const lines = Object.entries(commands).map(([each, { about }]) => `  ${each.padEnd(17)} ${about}`);
    console.log([usage, `Commands:\n${lines.join('\n')}`, 'COMMAND --help lists its options.'].join('\n\n'));
    return;
  }
  const asked = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (asked === undefined) {
    console.error(`unknown command '${name}'\n\nThe commands are ${Object.keys(commands).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  await asked.run(given);
}

/** Runs work in a process that is prepared for the requested adapter: this one, or a child. */
export async function onAdapter(request: string | undefined, work: () => Promise<void>): Promise<void> {
  const choice = await chooseAdapter(parseAdapterRequest(request));
  if (isPreparedFor(choice)) {
    Object.assign(process.env, choice.environment);
    await work();
  } else await runInPlace(choice, process.execPath, process.argv.slice(1));
}
