/** The command line of `npm run bench`: every knob of the page is an option. */
import { parseOutput, parseStrictly, UsageError } from '../command-line.mjs';

/** @typedef {typeof import('../../dev/bench/index.js')} BenchLibrary */

/** @param {BenchLibrary} library */
export function usage({ modes, runKnobs, engineKnobs }) {
  const list = (/** @type {Readonly<Record<string, { help: string }>>} */ knobs) =>
    Object.entries(knobs)
      .map(([name, { help }]) => `  --${name.padEnd(15)} ${help}`)
      .join('\n');
  return `The bench of the page without a page: the same modes, knobs, rows and statistics, on Dawn in Node.

usage: npm run bench -- --autorun MODE [options]

Modes, of which msm-bench is the default:
${Object.entries(modes)
  .map(([name, { about }]) => `  ${name.padEnd(17)} ${about}`)
  .join('\n')}

What to run:
${list(runKnobs)}

Knobs of the engine; in a sweep each may be a list (32,64,128 or 8..12), in accum-ab one side's is --a.NAME or --b.NAME:
${list(engineKnobs)}

Output:
  --json FILE       every row, as the page posts them
  --csv FILE        those with numbers, for a spreadsheet
  --trace FILE      of msm-trace: opens in https://ui.perfetto.dev
  --adapter auto    auto, software or hardware
  --help            this text

Exit code: 0 all is right · 1 it is not · 2 bad usage`;
}

/** @param {BenchLibrary} library */
export function parseOptions({ runKnobs, engineKnobs, parseKnobs }) {
  const knobs = [
    ...Object.keys(runKnobs),
    ...['', 'a.', 'b.'].flatMap((side) => Object.keys(engineKnobs).map((name) => side + name)),
  ];
  const values = parseStrictly({
    .../** @type {Record<string, { type: 'string', multiple: true }>} */ (
      Object.fromEntries(knobs.map((name) => [name, { type: 'string', multiple: true }]))
    ),
    json: { type: 'string' },
    csv: { type: 'string' },
    trace: { type: 'string' },
    adapter: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const { json, csv, trace, adapter, help } =
    /** @type {{ json?: string, csv?: string, trace?: string, adapter?: string, help: boolean }} */ (values);
  const query = new URLSearchParams();
  const given = /** @type {Readonly<Record<string, unknown>>} */ (values);
  for (const name of knobs) for (const value of /** @type {string[]} */ (given[name] ?? [])) query.append(name, value);
  if (!query.has('autorun')) query.set('autorun', 'msm-bench');
  for (const [option, path] of Object.entries({ json, csv, trace })) parseOutput(option, path);
  if (trace !== undefined && query.get('autorun') !== 'msm-trace')
    throw new UsageError('--trace: is for --autorun msm-trace');
  if (help) return { help, json, csv, trace, adapter, query, knobs: null };
  try {
    return { help, json, csv, trace, adapter, query, knobs: parseKnobs(query) };
  } catch (error) {
    // the page's words: a line for everything that is wrong, each of which begins with the knob
    throw error instanceof RangeError ? new UsageError(error.message.replace(/^/gm, '--')) : error;
  }
}
