/** The command line of `npm run correctness`. */
import { parseArgs } from 'node:util';
import { parseAdapterRequest } from '../adapter/choose-adapter.mjs';

/**
 * @typedef {object} Options
 * @property {URLSearchParams} query the page's knobs
 * @property {number} runs of each case with each placement
 * @property {import('../adapter/choose-adapter.mjs').AdapterRequest} adapter
 * @property {number} stallSeconds
 */

/** The command line cannot be understood; the message names the option. */
export class UsageError extends Error {}

const DEFAULT_LOGNS = '8,10,12';

export const help = `npm run correctness -- [options]

Opens the dev page in a headless Chromium, multiplies every case with both kinds of walker scratch, three times each,
and compares the results with the oracles (noble) and with each other.

  --logns 8,10,12     sizes as powers of two (default ${DEFAULT_LOGNS}; none when --ns is given)
  --ns 1000,4097      other sizes
  --all               the whole list: every distribution of points with every one of scalars, at sizes from 0 to 2^17 - 1, once
                      each, the two kinds of scratch in turns; short for --cases all --runs 1 --walkerpriv turns
  --cases core        which cases at each size: a set, or an address with points= and scalars=, where * or leaving one
                      out means all. Several: separated by ';' or by giving the option again. Default core.
  --seed 1            from which points and scalars are drawn
  --runs 3            runs of each case with each placement
  --walkerpriv 0|1    one placement of the scratch only: workgroup (0) or private (1); 'turns': one for each case
  --walkertpb, --walkers, --c, --cpubelow, --checks
                      knobs of the engine, as on the page
  --adapter auto      auto (a GPU if Chromium finds one, else software), software or hardware
  --stall 120         seconds without progress after which the run has failed
  --help

Sets and distributions are listed by --list.

Every distribution of points and scalars, at sizes next to powers of two and others:
  npm run correctness -- --cases distributions --ns 1000,4097,8191

Environment: PW_EXECUTABLE names the Chromium; else Playwright's own, the system's, or the one npm brought is taken.

Exit code: 0 all agree · 1 a disagreement, or a case did not run · 2 bad usage · 3 no browser or no adapter · 4 stalled`;

/**
 * @param {string[]} args
 * @returns {Options | 'help' | 'list'}
 * @throws UsageError
 */
export function parseOptions(args) {
  const { values } = readArguments(args);
  if (values.help) return 'help';
  if (values.list) return 'list';
  const runs = integer('runs', values.runs ?? (values.all ? '1' : '3'), 1, 1000);
  const cases = values.all ? ['all', ...(values.cases ?? [])] : (values.cases ?? ['core']);
  const logns = values.logns ?? (values.ns === undefined ? DEFAULT_LOGNS : '');
  const sizes = [...integers('logns', logns, 22).map((log) => 2 ** log), ...integers('ns', values.ns ?? '', 2 ** 22)];
  const query = new URLSearchParams({ autorun: 'msm-cross-check', reps: String(runs), n: sizes.join(',') });
  for (const filter of cases.flatMap((text) => text.split(';'))) query.append('case', filter.trim());
  for (const knob of /** @type {const} */ (['seed', 'walkerpriv', 'walkertpb', 'walkers', 'c', 'cpubelow', 'checks'])) {
    const value = values[knob] ?? (values.all && knob === 'walkerpriv' ? 'turns' : undefined);
    if (value !== undefined) query.set(knob, value);
  }
  return {
    query,
    runs,
    adapter: adapterRequest(values.adapter),
    stallSeconds: integer('stall', values.stall ?? '120', 1, 86_400),
  };
}

/** @param {string[]} args */
function readArguments(args) {
  try {
    return parseArgs({
      args,
      options: {
        logns: { type: 'string' },
        ns: { type: 'string' },
        all: { type: 'boolean' },
        cases: { type: 'string', multiple: true },
        seed: { type: 'string' },
        runs: { type: 'string' },
        walkerpriv: { type: 'string' },
        walkertpb: { type: 'string' },
        walkers: { type: 'string' },
        c: { type: 'string' },
        cpubelow: { type: 'string' },
        checks: { type: 'string' },
        adapter: { type: 'string' },
        stall: { type: 'string' },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string | undefined} text */
function adapterRequest(text) {
  try {
    return parseAdapterRequest(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} least
 * @param {number} most
 */
function integer(name, text, least, most) {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new UsageError(`--${name}: '${text}' is not an integer from ${least} to ${most}`);
  }
  return value;
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} most
 */
function integers(name, text, most) {
  return text === '' ? [] : text.split(',').map((item) => integer(name, item.trim(), 0, most));
}
