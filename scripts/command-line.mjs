/** What the commands that compute on an adapter have in common: their options, and how they end. It needs nothing but Node: it also runs where only the build is. */
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
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Options
 * @param {Options} options
 * @param {string[]} [args] without those of Node
 * @returns {ReturnType<typeof parseArgs<{ options: Options }>>['values']}
 * @throws UsageError
 */
export function parseStrictly(options, args = process.argv.slice(2)) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} least
 * @param {number} most
 * @throws UsageError
 */
export function parseInteger(name, text, least, most) {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new UsageError(`--${name}: '${text}' is not an integer from ${least} to ${most}`);
  }
  return value;
}

/**
 * @param {string} name
 * @param {string} text an integer; 2^k is understood
 * @param {number} least
 * @param {number} most
 * @throws UsageError
 */
export function parseSize(name, text, least, most) {
  const power = /^2\^(\d{1,2})$/.exec(text);
  return parseInteger(name, power ? String(2 ** Number(power[1])) : text, least, most);
}

/**
 * What a long run told must not be lost for want of a folder.
 *
 * @param {string} name
 * @param {string | undefined} path
 * @throws UsageError
 */
export function parseOutput(name, path) {
  if (path !== undefined && !existsSync(dirname(path))) {
    throw new UsageError(`--${name}: there is no folder ${dirname(path)}`);
  }
  return path;
}

/**
 * One line on a terminal that the next one takes the place of; nothing where nobody watches.
 *
 * @param {string} text nothing takes the line away
 */
export function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text && `${text} …`}`);
}

/**
 * Runs a command on the adapter that it asks for, in a process that is prepared for it. Exit code 1 for any failure but bad usage.
 *
 * @template {{ help?: boolean | undefined, adapter?: string | undefined }} Options
 * @param {string} usage
 * @param {() => Options} parse
 * @param {(options: Options) => Promise<void>} work
 * @param {number} [badUsage] the exit code for that
 */
export async function runOnAdapter(usage, parse, work, badUsage = 2) {
  try {
    const options = parse();
    if (options.help) {
      console.log(usage);
      return;
    }
    const choice = chooseAdapter(adapterRequest(options.adapter));
    if (isPreparedFor(choice)) await work(options);
    else await runInPlace(choice, process.execPath, process.argv.slice(1));
  } catch (error) {
    if (error instanceof UsageError) console.error(`${error.message}\n\n${inShort(usage)}`);
    else console.error(error instanceof NoAdapterError ? error.message : error);
    process.exitCode = error instanceof UsageError ? badUsage : 1;
  }
}

/**
 * @param {string | undefined} text
 * @throws UsageError
 */
function adapterRequest(text) {
  try {
    return parseAdapterRequest(text);
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/**
 * The line that begins with `usage:`. All of it would push the mistake off the screen.
 *
 * @param {string} usage
 */
const inShort = (usage) => `${/^usage:.*$/m.exec(usage)?.[0] ?? ''}\n--help says what there is`.trim();
