/** The command line of `npm run bench:targets`. */
import { parseInteger, parseStrictly, UsageError } from '../command-line.mjs';
import { findBuilds } from './builds.mjs';
import { rows } from './rows/all.mjs';

const names = rows.map(({ name }) => name);

export const usage = `Measures what the library is meant to reach, for BN254 G1, and says what is met and what is missed.

usage: npm run bench:targets -- [options]

  --rows ${names.slice(0, 2)},…   some of: ${names.join(', ')}
  --logn 16               the largest n, as a power of two (default 16 on a software adapter, 20 on a GPU)
  --reps 5                repetitions of everything that is timed; medians count
  --strict                a target that is missed makes the exit code 1, too; else only a wrong result or a failure does
  --json FILE             also writes every verdict, and all that was measured, to a file
  --build DIR             what is built in DIR/dist and DIR/dist-bench; default: this checkout
  --adapter auto          auto, software or hardware
  --help                  this text`;

/** Beyond this the points are more than Node's heap holds as bigints. */
const LARGEST_LOGN = 22;

/** Where the cold start is measured. */
const LEAST_LOGN = 10;

/** @param {string[]} [args] */
export function parseOptions(args) {
  const values = parseStrictly(
    {
      rows: { type: 'string' },
      logn: { type: 'string' },
      reps: { type: 'string', default: '5' },
      strict: { type: 'boolean', default: false },
      json: { type: 'string' },
      build: { type: 'string' },
      adapter: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    args,
  );
  const { help, strict, json, adapter, build } = values;
  return {
    help,
    strict,
    json,
    adapter,
    rows: values.rows === undefined ? names : parseRows(values.rows),
    logn: values.logn === undefined ? null : parseInteger('logn', values.logn, LEAST_LOGN, LARGEST_LOGN),
    reps: parseInteger('reps', values.reps, 1, 1000),
    // --help is answered wherever it is asked
    builds: help ? null : findBuilds(build),
  };
}

/**
 * @param {string} text
 * @throws UsageError
 */
function parseRows(text) {
  return text.split(',').map((part) => {
    const name = part.trim();
    if (!names.includes(name)) throw new UsageError(`--rows: '${name}' is none; there are ${names.join(', ')}`);
    return name;
  });
}
