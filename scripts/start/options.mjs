/** The command line of `npm start`. */
import { parseArgs } from 'node:util';

export const usage = `Computes BN254 multi-scalar multiplications on the GPU, checks each, and prints what they took.

usage: npm start -- [options]

  --n 1024,2^12,...    how many points; 2^k is understood     (default 2^10,2^12,2^14)
  --reps 3             timed repetitions of each, after a warm-up; the median is printed
  --seed 1             of the points and the scalars
  --adapter auto       auto: the GPU where there is one, else the software adapter from npm; or software, hardware
  --budget 256         the engine's memoryBudget in MiB; what needs more runs in groups and chunks
  --json FILE          also writes what was measured to a file, one row a size
  --help               this text
`;

/** Beyond this the points alone are 4 GiB. */
const LARGEST_N = 2 ** 26;

/** A mistake on the command line. */
export class UsageError extends Error {}

/**
 * @param {string[]} args
 */
export function parseOptions(args) {
  const { values } = parseStrictly(args);
  return {
    help: values.help,
    adapter: values.adapter,
    json: values.json,
    sizes: [...new Set(values.n.split(',').map((text) => parseSize(text.trim())))].sort((a, b) => a - b),
    reps: parseInteger('--reps', values.reps, 1, 1000),
    seed: parseInteger('--seed', values.seed, 0, 2 ** 32 - 1),
    memoryBudget:
      values.budget === undefined ? undefined : 2 ** 20 * parseInteger('--budget', values.budget, 1, 2 ** 20),
  };
}

/** @param {string[]} args */
function parseStrictly(args) {
  try {
    return parseArgs({
      args,
      options: {
        n: { type: 'string', default: '2^10,2^12,2^14' },
        reps: { type: 'string', default: '3' },
        seed: { type: 'string', default: '1' },
        adapter: { type: 'string' },
        json: { type: 'string' },
        budget: { type: 'string' },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} text */
function parseSize(text) {
  const power = /^2\^(\d{1,2})$/.exec(text);
  return parseInteger('--n', power ? String(2 ** Number(power[1])) : text, 1, LARGEST_N);
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} least
 * @param {number} most
 */
function parseInteger(name, text, least, most) {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${name}: '${text}' is not an integer from ${least} to ${most}`);
}
