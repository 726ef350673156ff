/**
 * npm run bench -- sweep --logn 10..18
 *
 * Runs the modes of the bench page in Node, and the modes that only Node has.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { findLibrary, openBench } from './builds.mjs';
import {
  adapterOption,
  anyText,
  asksForHelp,
  helpText,
  onAdapter,
  outputFile,
  readArguments,
  refusalsAsUsage,
  repeatable,
  runCommand,
  UsageError,
  valued,
} from './command-line.mjs';
import { knobOptions } from './knob-options.mjs';
import { modes, seenOn } from './mode-list.mjs';
import { runBench } from './run-bench.mjs';

/** @typedef {keyof typeof modes} Mode */
/** @typedef {typeof import('../dev/bench/index.js')} Library */

const outputs = {
  json: valued('FILE', 'write every row as JSON, as the page posts them', outputFile),
  csv: valued('FILE', 'write the rows with numbers as CSV, for a spreadsheet', outputFile),
  trace: valued(
    'FILE',
    'msm-trace writes a trace for https://ui.perfetto.dev; replay reads the calls from it, as JSON',
    anyText,
  ),
  adapter: adapterOption,
};

const modeLines = Object.entries(modes).map(([name, { about, takes }]) => `  ${name.padEnd(17)} ${about} (${takes})`);

/** The help that needs no build. @type {import('./command-line.mjs').Command<{}>} */
const general = {
  usage: `Runs the bench of the page in Node: the same modes, knobs, rows and statistics, on Dawn.

usage: npm run bench -- MODE [options]

Modes, and their duration with defaults on two cores with a software adapter:
${modeLines.join('\n')}

npm run bench -- MODE --help lists the knobs of a mode.`,
  options: outputs,
  notes: 'Exit code: 0 all results right · 1 a wrong result or a failure · 2 bad usage',
};

/**
 * Returns the help for some arguments. A mode's knobs are known to the build only, so it is built.
 *
 * @param {readonly string[]} args
 * @returns {Promise<import('./command-line.mjs').Command<any>>}
 */
async function commandFor(args) {
  const mode = /** @type {Mode | undefined} */ (args.find((arg) => Object.hasOwn(modes, arg)));
  if (mode === undefined || !asksForHelp(args)) return general;
  const { title, about, takes } = modes[mode];
  return {
    usage: `${title}: ${about} With defaults it takes ${takes} on ${seenOn(mode)}.

usage: npm run bench -- ${mode} [options]`,
    options: { ...knobOptions(await openBench(), mode), ...outputs },
    ...(mode === 'sweep' && { notes: 'Each knob of the engine may have a list of values: 32,64,128 or 8..12.' }),
  };
}

/** Reads the file of a trace. @param {string} path */
function contentOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--trace: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * Returns the one mode that the arguments name.
 *
 * @param {readonly string[]} named
 * @throws UsageError
 */
function onlyMode([mode, ...more]) {
  if (mode === undefined) throw new UsageError(`no mode given; the modes are ${Object.keys(modes).join(', ')}`);
  if (more.length > 0) throw new UsageError(`'${more[0]}' belongs to no option`);
  return mode;
}

/**
 * Reads the arguments of a run as the page's query and its knobs.
 *
 * @param {Library} library
 * @param {string[]} args
 * @throws UsageError
 */
function readRun(library, args) {
  const { parseKnobs, needsGpu } = library;
  const { autorun: _, ...knobs } = knobOptions(library, null);
  const { values, words } = readArguments({ ...knobs, ...outputs, autorun: repeatable('MODE', '') }, args);
  const { json, csv, trace, adapter, autorun, ...given } = values;
  const mode = onlyMode([...words, ...autorun]);
  const isReplay = mode === 'replay';
  if (trace !== undefined && mode !== 'msm-trace' && !isReplay)
    throw new UsageError(`--trace: only msm-trace and replay take it, not ${mode}`);
  const traceOut = trace === undefined || isReplay ? undefined : outputFile(trace, 'trace');
  const query = new URLSearchParams({ autorun: mode });
  for (const [name, texts] of Object.entries(given)) {
    for (const text of texts === true ? ['1'] : texts || []) query.append(name, text);
  }
  if (trace !== undefined && isReplay) query.set('trace', contentOf(trace));
  // the page's errors begin with the name of the knob
  const read = refusalsAsUsage(
    () => parseKnobs(query, 'terminal'),
    (message) => message.replaceAll(/^/gm, '--'),
  );
  for (const { build } of read.settings) if (build !== null) findLibrary(build, 'build');
  const withoutGpu = !needsGpu(read);
  if (withoutGpu && adapter !== undefined) {
    const why = read.settings.some(({ backend }) => backend === 'cpu') ? ' --backend cpu' : '';
    throw new UsageError(`--adapter: ${mode}${why} runs on the CPU and takes no adapter`);
  }
  return { read, query, withoutGpu, adapter, json, csv, traceOut };
}

/** Runs a mode, prints its report and writes its files. @param {string[]} args */
async function bench(args) {
  const library = await openBench();
  const { toJson, toCsv, toChromeTrace, reportLines, expectedLine } = library;
  const { read, query, withoutGpu, adapter, json, csv, traceOut } = readRun(library, args);
  const measure = async () => {
    const expected = expectedLine(read);
    if (expected !== null) console.error(expected);
    const { rows, status, error } = await runBench(library, read, query.toString());
    // rows that were measured before a failure are reported, too
    console.log(reportLines(rows).join('\n'));
    if (json !== undefined) writeFileSync(json, toJson(rows));
    if (csv !== undefined) writeFileSync(csv, toCsv(rows));
    if (traceOut !== undefined) writeFileSync(traceOut, toChromeTrace(rows));
    if (status !== 'done') {
      console.error(`\n${error}`);
      process.exitCode = 1;
    }
  };
  await (withoutGpu ? measure() : onAdapter(adapter, measure));
}

const args = process.argv.slice(2);
if (args.length === 0) console.log(helpText(general));
else await runCommand(await commandFor(args), () => bench(args));
