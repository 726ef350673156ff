/** npm run bench -- sweep --logn 10..18: the modes of the page, and those that no page has, in Node. */
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

const outputs = {
  json: valued('FILE', 'every row, as the page posts them', outputFile),
  csv: valued('FILE', 'those with numbers, for a spreadsheet', outputFile),
  trace: valued(
    'FILE',
    'of msm-trace: written, opens in https://ui.perfetto.dev; of replay: read, the calls as JSON',
    anyText,
  ),
  adapter: adapterOption,
};

const modeLines = Object.entries(modes).map(([name, { about, takes }]) => `  ${name.padEnd(17)} ${about} (${takes})`);

/** What there is to say without a build. @type {import('./command-line.mjs').Command<{}>} */
const general = {
  usage: `The bench of the page without a page: the same modes, knobs, rows and statistics, on Dawn in Node.

usage: npm run bench -- MODE [options]

Modes, and how long each takes with its defaults on two cores that play GPU:
${modeLines.join('\n')}

npm run bench -- MODE --help has the knobs of a mode.`,
  options: outputs,
  notes: 'Exit code: 0 all is right · 1 it is not · 2 bad usage',
};

/**
 * What --help says: of a mode its knobs, which the build knows.
 *
 * @param {readonly string[]} args
 * @returns {Promise<import('./command-line.mjs').Command<any>>}
 */
async function commandFor(args) {
  const mode = /** @type {Mode | undefined} */ (args.find((arg) => Object.hasOwn(modes, arg)));
  if (mode === undefined || !asksForHelp(args)) return general;
  const { title, about, takes } = modes[mode];
  return {
    usage: `${title}: ${about} With its defaults it takes ${takes} on ${seenOn(mode)}.

usage: npm run bench -- ${mode} [options]`,
    options: { ...knobOptions(await openBench(), mode), ...outputs },
    ...(mode === 'sweep' && { notes: 'Each knob of the engine may be a list: 32,64,128 or 8..12.' }),
  };
}

/** @param {string} path of a trace */
function contentOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--trace: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {string[]} args */
async function bench(args) {
  const library = await openBench();
  const { toJson, toCsv, toChromeTrace, reportLines, parseKnobs, needsGpu, expectedLine } = library;
  const { autorun: _, ...knobs } = knobOptions(library, null);
  const { values, words } = readArguments({ ...knobs, ...outputs, autorun: repeatable('MODE', '') }, args);
  const { json, csv, trace, adapter, autorun, ...given } = values;
  const [mode, ...more] = [...words, ...autorun];
  if (mode === undefined) throw new UsageError(`which mode? There are ${Object.keys(modes).join(', ')}`);
  if (more.length > 0) throw new UsageError(`'${more[0]}' belongs to no option`);
  const isReplay = mode === 'replay';
  if (trace !== undefined && mode !== 'msm-trace' && !isReplay)
    throw new UsageError('--trace: is for msm-trace and replay');
  const traceOut = trace === undefined || isReplay ? undefined : outputFile(trace, 'trace');
  const query = new URLSearchParams({ autorun: mode });
  for (const [name, texts] of Object.entries(given)) {
    for (const text of texts === true ? ['1'] : texts || []) query.append(name, text);
  }
  if (trace !== undefined && isReplay) query.set('trace', contentOf(trace));
  // the page's words, and they name the knobs
  const read = refusalsAsUsage(
    () => parseKnobs(query, 'terminal'),
    (message) => message.replaceAll(/^/gm, '--'),
  );
  for (const { build } of read.settings) if (build !== null) findLibrary(build, 'build');
  const withoutGpu = !needsGpu(read);
  if (withoutGpu && adapter !== undefined) {
    const why = read.settings.some(({ backend }) => backend === 'cpu') ? ' --backend cpu' : '';
    throw new UsageError(`--adapter: ${mode}${why} is about the CPU`);
  }
  const measure = async () => {
    const expected = expectedLine(read);
    if (expected !== null) console.error(expected);
    const { rows, status, error } = await runBench(library, read, query.toString());
    // what was measured before something failed is worth having
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
