/** Parses the arguments of both programs, and explains invalid ones in one line. */
import { parseArgs } from 'node:util';

/**
 * @template Value
 * @typedef {{ rule: string, read: (text: string) => Value | undefined, otherwise: Value }} Argument
 */

/**
 * @template Otherwise
 * @param {number} least
 * @param {Otherwise} otherwise value if the argument is absent
 * @returns {Argument<number | Otherwise>}
 */
export const whole = (least, otherwise) => ({
  rule: `a whole number, ${least} or more`,
  read: (text) =>
    /^\d+$/.test(text) && Number(text) >= least && Number.isSafeInteger(Number(text)) ? Number(text) : undefined,
  otherwise,
});

/**
 * @param {number} otherwise
 * @returns {Argument<number>}
 */
export const share = (otherwise) => ({
  rule: 'a number from 0 to 1',
  read: (text) => (/^\d*\.?\d+$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  otherwise,
});

/**
 * @template Otherwise
 * @param {Otherwise} otherwise value if the argument is absent
 * @returns {Argument<string | Otherwise>}
 */
export const word = (otherwise) => ({ rule: 'a name', read: (text) => text || undefined, otherwise });

const BACKENDS = /** @type {const} */ (['auto', 'gpu', 'cpu', 'both']);

/** @type {Argument<typeof BACKENDS[number]>} */
export const backend = {
  rule: `one of ${BACKENDS.join(', ')}`,
  read: (text) => BACKENDS.find((each) => each === text),
  otherwise: 'auto',
};

/**
 * Parses the arguments. Ends the process with 0 after --help, and with 2 if an argument is invalid.
 *
 * @template {Record<string, Argument<any>>} Known
 * @param {string} usage
 * @param {Known} known
 * @returns {{ [Name in keyof Known]: Known[Name]['otherwise'] }}
 */
export function readArguments(usage, known) {
  /** @type {(why: string) => never} */
  const refuse = (why) => {
    console.error(why);
    process.exit(2);
  };
  const names = Object.keys(known);
  /** @type {Record<string, string | boolean | undefined>} */
  let given;
  try {
    given = parseArgs({
      options: { help: { type: 'boolean' }, ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])) },
    }).values;
  } catch (error) {
    refuse(`${String(/** @type {Error} */ (error).message).split(/[.\n]/)[0]}. --help lists the arguments.`);
  }
  if (given.help) {
    console.log(usage);
    process.exit(0);
  }
  const values = Object.entries(known).map(([name, { rule, read, otherwise }]) => {
    const text = given[name];
    if (typeof text !== 'string') return [name, otherwise];
    return [name, read(text) ?? refuse(`--${name} is ${JSON.stringify(text)}; it must be ${rule}`)];
  });
  return Object.fromEntries(values);
}
