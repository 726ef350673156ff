/**
 * npm run bench -- run --logn 10..18
 *
 * Runs the modes of the bench page in Node or in a remote browser, and the modes that only Node
 * has.
 */
import { findLibrary, openBench } from './builds.mjs';
import {
  adapterOption,
  anyText,
  asksForHelp,
  fromModule,
  onAdapter,
  oneOf,
  outputFile,
  readArguments,
  refusalsAsUsage,
  runCommand,
  runSubcommand,
  UsageError,
  valued,
} from './command-line.mjs';
import { knobOptions } from './knob-options.mjs';
import { benchRemotely, remoteNotes, remoteOptions } from './remote.mjs';
import { reportBench } from './run-bench.mjs';

/** @typedef {typeof import('../dev/bench/index.js')} Library */

const outputs = {
  json: valued('FILE', 'write every row as JSON, as the page posts them', outputFile),
  csv: valued('FILE', 'write the rows with numbers as CSV, for a spreadsheet', outputFile),
};

/** Options of `run`, which choose its mode. */
const ofRun = {
  phase: valued('msm', 'msm (the default), or load to time the loading of points', oneOf('msm', 'load')),
  op: valued('msm', 'msm (the default), or ntt to time transforms', oneOf('msm', 'ntt')),
  trace: valued('[FILE]', 'show the passes of one MSM; FILE gets a trace for https://ui.perfetto.dev', anyText),
};

const { adapter: remoteAdapter, json: _, ...onlyRemote } = remoteOptions;

/** Modes of commands that have one; `run` chooses its mode by its options. */
const modeOf = {
  check: 'msm-cross-check',
  load: 'load',
  proofs: 'proofs',
  field: 'field-bench',
  targets: 'targets',
  calibrate: 'calibrate',
  'cpu-distribution': 'cpu-distribution',
  'cpu-pool': 'cpu-pool',
};

/** Modes of `run`, with the options that choose them. */
const runModes = {
  'msm-bench': 'one setting',
  'accum-ab': 'two settings: --a.KNOB, --b.KNOB',
  sweep: 'every combination of knobs with lists: --walkertpb 32,64',
  'msm-trace': '--trace',
  loading: '--phase load',
  transforms: '--op ntt',
};

/** Names of modes in addresses of the page, which are commands as well. */
const aliases = Object.fromEntries([
  ...Object.entries(modeOf).flatMap(([command, mode]) => (mode === command ? [] : [[mode, command]])),
  ...Object.keys(runModes).map((mode) => [mode, 'run']),
]);

/** Returns whether an argument asks for a remote browser. @param {string} arg */
const isConnect = (arg) => /^--connect(=|$)/.test(arg);

/** Returns the texts of the knobs of a command line: `1` for a flag. @param {Record<string, string[] | boolean>} values */
const textsOf = (values) =>
  Object.entries(values).flatMap(([name, texts]) =>
    (texts === true ? ['1'] : texts || []).map((text) => /** @type {const} */ ([name, text])),
  );

/**
 * Returns the mode that the options of `run` ask for.
 *
 * @param {Library} library
 * @param {{ phase: string | undefined, op: string | undefined, trace: string | undefined }} asked
 * @param {readonly (readonly [name: string, text: string])[]} knobs
 */
function modeOfRun({ settingKnobs }, { phase, op, trace }, knobs) {
  if (phase === 'load') return 'loading';
  if (op === 'ntt') return 'transforms';
  if (trace !== undefined) return 'msm-trace';
  if (knobs.some(([name]) => /^[ab]\./.test(name))) return 'accum-ab';
  const isSwept = knobs.some(([name, text]) => settingKnobs.includes(name) && name !== 'build' && /,|\.\./.test(text));
  return isSwept ? 'sweep' : 'msm-bench';
}

/**
 * Reads the arguments of a mode.
 *
 * @param {Library} library
 * @param {string | null} named null for `run`, whose options choose the mode
 * @param {string[]} args
 * @throws UsageError
 */
function readRun(library, named, args) {
  const isRemote = args.some(isConnect);
  const others = { ...outputs, ...ofRun, ...onlyRemote, adapter: isRemote ? remoteAdapter : adapterOption };
  const { values, words } = readOptions(library, { ...knobOptions(library, null), ...others }, args);
  if (words.length > 0) throw new UsageError(`'${words[0]}' belongs to no option`);
  /** @type {Record<string, any>} */
  const own = {};
  /** @type {Record<string, string[] | boolean>} */
  const given = {};
  for (const [name, value] of Object.entries(values)) {
    if (Object.hasOwn(others, name)) own[name] = value;
    else given[name] = value;
  }
  const knobs = textsOf(given);
  const mode = named ?? modeOfRun(library, /** @type {any} */ (own), knobs);
  if (own.trace !== undefined && mode !== 'msm-trace') throw new UsageError(`--trace: not used by ${mode}`);
  if (own.trace) outputFile(own.trace, 'trace');
  const query = new URLSearchParams([['autorun', mode], ...knobs.map((pair) => [...pair])]);
  // the page's errors begin with the name of the knob
  const read = refusalsAsUsage(
    () => library.parseKnobs(query, isRemote ? 'page' : 'terminal'),
    (message) => message.replaceAll(/^/gm, '--'),
  );
  for (const { build } of read.settings) if (build !== null) findLibrary(build, 'build');
  return { read, query, mode, own };
}

/**
 * Reads options. A mistyped knob gets the suggestion that the page gives.
 *
 * @param {Library} library
 * @param {Record<string, import('./command-line.mjs').Option<any>>} options
 * @param {string[]} args
 */
function readOptions({ nearestKnobs }, options, args) {
  try {
    return readArguments(options, args);
  } catch (error) {
    const name = /^unknown option '--([\w.-]+)/.exec(/** @type {Error} */ (error).message)?.[1];
    const near = name === undefined ? [] : nearestKnobs(name);
    if (near.length === 0) throw error;
    throw new UsageError(`--${name}: no such knob; did you mean --${near.join(' or --')}?`);
  }
}

/** @param {string | null} named @param {string[]} args */
async function bench(named, args) {
  const library = await openBench();
  const { read, query, mode, own } = readRun(library, named, args);
  const { adapter, connect } = own;
  if (connect !== undefined) return benchRemotely(library, /** @type {any} */ (own), query);
  const measure = () => reportBench(library, read, query, own);
  if (library.needsGpu(read)) return onAdapter(adapter, measure);
  if (adapter !== undefined) {
    const why = read.settings.some(({ backend }) => backend === 'cpu') ? ' --backend cpu' : '';
    throw new UsageError(`--adapter: ${mode}${why} runs on the CPU and takes no adapter`);
  }
  return measure();
}

/**
 * Returns the help of a command, and of its modes. Their knobs are known to the build only.
 *
 * @param {string} name
 * @param {readonly string[]} modes
 */
async function helpOf(name, modes) {
  const library = await openBench();
  const told = modes.map((mode) => library.modeHelp(mode));
  const why = (/** @type {string} */ mode) => runModes[/** @type {keyof typeof runModes} */ (mode)];
  const about = told.flatMap((lines, i) => [
    ...(modes.length > 1 ? [`${modes[i]} (${why(modes[i] ?? '')})`] : []),
    ...lines,
    '',
  ]);
  const all = Object.assign({}, ...modes.map((mode) => knobOptions(library, mode)));
  const knobs = Object.fromEntries(Object.entries(all).filter(([name]) => name !== 'autorun' && !name.includes('.')));
  return {
    usage: `${about.join('\n')}\nusage: npm run bench -- ${name} [options]`,
    options: {
      ...(name === 'run' ? ofRun : {}),
      ...knobs,
      ...outputs,
      adapter: adapterOption,
      ...(name === 'run' ? onlyRemote : {}),
    },
    notes: [
      'Exit code: 0 all results right · 1 a wrong result or a failure · 2 bad usage',
      ...(name === 'run' ? [remoteNotes] : []),
    ].join('\n'),
  };
}

/**
 * Returns the command of some modes.
 *
 * @param {string} command
 * @param {string} about
 * @returns {import('./command-line.mjs').Subcommand}
 */
const ofModes = (command, about) => ({
  about,
  async run(given) {
    const fixed = command === 'run' ? null : modeOf[/** @type {keyof typeof modeOf} */ (command)];
    const isAlias = given[0] !== undefined && Object.hasOwn(aliases, given[0]) && aliases[given[0]] === command;
    const [named, args] = isAlias ? [given[0] ?? null, given.slice(1)] : [fixed, given];
    const modes = named === null ? Object.keys(runModes) : [named];
    const help = asksForHelp(args)
      ? await helpOf(command, modes)
      : { usage: `usage: npm run bench -- ${command} [options]`, options: {} };
    await runCommand(help, () => bench(named, args));
  },
});

await runSubcommand(
  `Runs the bench of the page in Node, with the same knobs, rows and statistics, or in a remote browser.

usage: npm run bench -- COMMAND [options]`,
  {
    run: ofModes(
      'run',
      'times MSMs: one setting, two settings, or every combination of lists; with --trace its passes, with --op ntt transforms',
    ),
    check: ofModes('check', 'compares every case with the oracles: is it right?'),
    load: ofModes('load', 'times the MSMs of a prover from 1 to 20 callers at once'),
    proofs: ofModes('proofs', 'times proofs by snarkjs, with and without the library'),
    field: ofModes('field', 'times field products, squares and inversions beside the device’s peak rates'),
    targets: ofModes('targets', 'measures the performance targets: which are met, and which are missed?'),
    calibrate: ofModes('calibrate', 'finds the tuning that is fastest on this device'),
    count: fromModule(
      'counts products, inversions and words of an MSM by stage; no times',
      () => import('./count.mjs'),
    ),
    'gpu-day': fromModule(
      'runs all checks and measurements on a GPU that is lent for minutes',
      () => import('./gpu-day.mjs'),
    ),
    'cpu-distribution': ofModes('cpu-distribution', 'compares ways to distribute bucket rows to CPU threads'),
    'cpu-pool': ofModes('cpu-pool', 'measures the CPU’s workers: their start, small MSMs, and memory'),
  },
  aliases,
);
